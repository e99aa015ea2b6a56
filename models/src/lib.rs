//! Model backends and the action parser.
