#!/bin/sh
# A policy in the shell: no call reaches anybody outside. `docs/book/process.md` is the protocol.
while IFS= read -r line; do
    case $line in
    '{"hello":'*)
        echo '{"protocol":1,"name":"block_outbound","version":1,"hooks":["proposal"],"summary":"Blocks every outbound call"}'
        ;;
    '{"id":'*)
        id=${line#'{"id":'}
        id=${id%%,*}
        case $line in
        *'"risk":"outbound"'*)
            echo "{\"id\":$id,\"verdict\":\"block\",\"rule\":\"no_outbound\",\"denial\":\"outside_user_goal\"}"
            ;;
        *)
            echo "{\"id\":$id,\"verdict\":\"allow\"}"
            ;;
        esac
        ;;
    esac
done
