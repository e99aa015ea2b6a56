//! Spread, region and the counts of the projection from the JSON Lines text alone, by petgraph.
//! The definitions are those of the crate documentation of `study` and of `study/COLUMNS.md`.

use std::collections::BTreeSet;

use petgraph::algo::dijkstra;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeFiltered, EdgeRef as _, IntoNeighbors, Visitable};
use serde_json::Value;

/// A set of nodes, by their ids in the trace.
pub type Nodes = BTreeSet<usize>;

/// What one trace says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// How many nodes there are.
    pub nodes: usize,
    /// How many edges there are.
    pub edges: usize,
    /// `U`: untrusted sources, and tainted records carried in from before the rollout.
    pub untrusted: Nodes,
    /// `T` of Eq. 2: what `U` reaches over taint edges, `U` included.
    pub tainted: Nodes,
    /// `R` of Eq. 4: what `U` reaches over all edges, `U` included.
    pub region: Nodes,
    /// The nodes whose recorded label is tainted.
    pub labelled: Nodes,
    /// Field 1, `blast_radius_norm`: labelled nodes and the nodes of `R`, at least 1.
    pub blast_radius_norm: (usize, usize),
    /// Field 2, `blast_radius_raw`: labelled nodes.
    pub blast_radius_raw: usize,
    /// Field 3: labelled agent states.
    pub br_agent: usize,
    /// Field 4: labelled messages, final answers included.
    pub br_message: usize,
    /// Field 5: labelled memory nodes.
    pub br_memory: usize,
    /// Field 6: labelled tool results and proposals.
    pub br_tool: usize,
    /// Field 7: labelled side effects.
    pub br_side_effect: usize,
    /// Labelled sources.
    pub br_source: usize,
    /// Field 9, `cascade_depth`: the greatest least number of taint edges from `U`.
    pub cascade_depth: usize,
    /// Labelled nodes outside `R`.
    pub br_out_of_region: usize,
    /// Every law that does not hold, in words.
    pub violations: Vec<String>,
}

impl Numbers {
    /// Reads a trace; `untrusted` are the names of the untrusted sources.
    ///
    /// # Errors
    /// When the text is no trace.
    pub fn read(text: &str, untrusted: &BTreeSet<String>) -> Result<Self, String> {
        let mut violations = Vec::new();
        let graph = read_graph(text, &mut violations)?;
        Ok(Self::of(&graph, untrusted, violations))
    }

    /// `T/R`: the nodes of `T` over those of `R`, as the tests of shapes write it.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.tainted.len(), self.region.len())
    }

    fn of(
        graph: &DiGraph<TraceNode, bool>,
        untrusted: &BTreeSet<String>,
        violations: Vec<String>,
    ) -> Self {
        let carries = |node: &TraceNode| node.recorded.iter().any(|name| untrusted.contains(name));
        let roots: Nodes = graph
            .node_indices()
            .filter(|&id| {
                let node = &graph[id];
                let has_no_parent = graph
                    .edges_directed(id, petgraph::Direction::Incoming)
                    .next()
                    .is_none();
                match &*node.kind {
                    "source" => node
                        .subject
                        .strip_prefix("source:")
                        .is_some_and(|name| untrusted.contains(name)),
                    "memory" => has_no_parent && carries(node),
                    _ => false,
                }
            })
            .map(NodeIndex::index)
            .collect();
        let taint_edges = EdgeFiltered::from_fn(graph, |edge| *edge.weight());
        let tainted = reach(&taint_edges, &roots);
        let region = reach(graph, &roots);
        let labelled: Nodes = graph
            .node_indices()
            .filter(|&id| carries(&graph[id]))
            .map(NodeIndex::index)
            .collect();
        let of_kinds = |kinds: &[&str]| {
            labelled
                .iter()
                .filter(|&&id| kinds.contains(&&*graph[NodeIndex::new(id)].kind))
                .count()
        };
        let mut depths = vec![usize::MAX; graph.node_count()];
        for &root in &roots {
            let from_root = dijkstra(&taint_edges, NodeIndex::new(root), None, |_| 1_usize);
            for (id, depth) in &mut depths.iter_mut().enumerate() {
                if let Some(&least) = from_root.get(&NodeIndex::new(id)) {
                    *depth = least.min(*depth);
                }
            }
        }
        let depths = tainted.iter().map(|&id| depths[id]);
        let mut numbers = Self {
            nodes: graph.node_count(),
            edges: graph.edge_count(),
            cascade_depth: depths.max().unwrap_or_default(),
            blast_radius_norm: (labelled.len(), region.len().max(1)),
            blast_radius_raw: labelled.len(),
            br_agent: of_kinds(&["agent_state"]),
            br_message: of_kinds(&["message"]),
            br_memory: of_kinds(&["memory"]),
            br_tool: of_kinds(&["tool_result", "proposal"]),
            br_side_effect: of_kinds(&["side_effect"]),
            br_source: of_kinds(&["source"]),
            br_out_of_region: labelled.difference(&region).count(),
            untrusted: roots,
            tainted,
            region,
            labelled,
            violations,
        };
        numbers.check(graph);
        numbers
    }

    /// The laws: the labelled nodes are `T`, `T` lies within `R`, and the components sum up.
    fn check(&mut self, graph: &DiGraph<TraceNode, bool>) {
        for &id in self.labelled.symmetric_difference(&self.tainted) {
            let kind = &graph[NodeIndex::new(id)].kind;
            let which = if self.labelled.contains(&id) {
                "labelled but not reached"
            } else {
                "reached but not labelled"
            };
            self.violations
                .push(format!("node {id} ({kind}) is {which}"));
        }
        if !self.tainted.is_subset(&self.region) {
            self.violations.push("T is not within R".to_owned());
        }
        let parts = self.br_agent
            + self.br_message
            + self.br_memory
            + self.br_tool
            + self.br_side_effect
            + self.br_source;
        if parts != self.blast_radius_raw {
            self.violations.push("a decision is labelled".to_owned());
        }
        for edge in graph.edge_references() {
            if edge.source() >= edge.target() {
                let (from, to) = (edge.source().index(), edge.target().index());
                self.violations
                    .push(format!("edge {from} -> {to} does not run from old to new"));
            }
        }
    }
}

struct TraceNode {
    kind: String,
    subject: String,
    recorded: Vec<String>,
}

/// The graph of a trace; the weight of an edge is whether it propagates taint.
fn read_graph(
    text: &str,
    violations: &mut Vec<String>,
) -> Result<DiGraph<TraceNode, bool>, String> {
    let mut graph = DiGraph::new();
    let mut lines = text.lines();
    let header: Value = parse(lines.next().ok_or("the trace is empty")?)?;
    if header["type"] != "header" || header["schema"] != 1 {
        return Err("the first line is no header of schema 1".to_owned());
    }
    let mut ended = false;
    for (position, line) in lines.enumerate() {
        let event = parse(line)?;
        if event["type"] != "event" || event["event"] != position {
            return Err(format!("line {} is no event {position}", position + 2));
        }
        if ended {
            violations.push("something happens after the end".to_owned());
        }
        ended = event["what"] == "ended";
        for node in list(&event, "nodes")? {
            let id = graph.add_node(TraceNode {
                kind: string(node, "kind")?,
                subject: string(node, "subject")?,
                recorded: list(node, "recorded")?
                    .iter()
                    .map(|name| name.as_str().unwrap_or_default().to_owned())
                    .collect(),
            });
            if node["id"] != id.index() {
                return Err(format!("node {} is out of order", node["id"]));
            }
        }
        for edge in list(&event, "edges")? {
            let (from, to) = (end(edge, "from", &graph)?, end(edge, "to", &graph)?);
            let taint = edge["taint"].as_bool().ok_or("an edge without `taint`")?;
            graph.add_edge(from, to, taint);
        }
    }
    if !ended {
        violations.push("the last event is not `ended`".to_owned());
    }
    Ok(graph)
}

fn parse(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|error| error.to_string())
}

fn list<'v>(value: &'v Value, key: &str) -> Result<&'v Vec<Value>, String> {
    value[key]
        .as_array()
        .ok_or_else(|| format!("`{key}` is no list"))
}

fn string(value: &Value, key: &str) -> Result<String, String> {
    let string = value[key].as_str();
    string
        .map(str::to_owned)
        .ok_or_else(|| format!("`{key}` is no text"))
}

fn end(edge: &Value, key: &str, graph: &DiGraph<TraceNode, bool>) -> Result<NodeIndex, String> {
    edge[key]
        .as_u64()
        .and_then(|id| usize::try_from(id).ok())
        .filter(|&id| id < graph.node_count())
        .map(NodeIndex::new)
        .ok_or_else(|| format!("`{key}` of an edge is no node"))
}

fn reach<G>(graph: G, roots: &Nodes) -> Nodes
where
    G: IntoNeighbors<NodeId = NodeIndex> + Visitable<NodeId = NodeIndex>,
{
    let mut search = Dfs::empty(graph);
    let mut reached = Nodes::new();
    for &root in roots {
        search.move_to(NodeIndex::new(root));
        while let Some(node) = search.next(graph) {
            reached.insert(node.index());
        }
    }
    reached
}
