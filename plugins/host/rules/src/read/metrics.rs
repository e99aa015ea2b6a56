//! Reading a file of metrics.

use std::collections::BTreeSet;

use plugins::loaded::Mistake;
use plugins::policy::{Hook, is_rule_name};

use super::{Fields, Reader};
use crate::metrics::{HAPPENED, Happened, Metric};
use crate::text::{Node, What};
use crate::words::Places;

/// Metrics of a file.
pub const MAX_METRICS: usize = 100;

impl Reader {
    /// Reads metrics. They are whole only if no mistake was noted.
    pub(crate) fn metrics(&mut self, root: &Node<'_>) -> Option<Vec<Metric>> {
        self.kind_of_file(root, "Metrics")?;
        let known = &["schema", "summary", "metrics"];
        let fields = Fields::of(self, root, "a file of metrics", known)?;
        self.schema(&fields)?;
        self.summary(&fields, "summary");
        let list = fields.need(self, "metrics", "[...]")?;
        let What::List(items) = &list.what else {
            return self.expected(list, "a list of metrics");
        };
        if items.is_empty() {
            return self.wrong(&list.place, "there is no metric", "write one at least");
        }
        if let Some(excess) = items.get(MAX_METRICS) {
            let message = format!(
                "the file has {} metrics, more than {MAX_METRICS}",
                items.len()
            );
            self.note(Mistake::new(message).at(excess.place.clone()));
            return None;
        }
        let mut metrics = Vec::new();
        let mut names = BTreeSet::new();
        for item in items {
            let Some(metric) = self.metric(item) else {
                continue;
            };
            if !names.insert(metric.name.clone()) {
                let message = format!("two metrics are called `{}`", metric.name);
                self.wrong::<()>(&item.place, message, "give each a name of its own");
            }
            metrics.push(metric);
        }
        Some(metrics)
    }

    fn metric(&mut self, node: &Node<'_>) -> Option<Metric> {
        const KNOWN: &[&str] = &["name", "doc", "count", "of", "over"];
        let fields = Fields::of(self, node, "a metric", KNOWN)?;
        let name = fields.need(self, "name", "\"late_mails\"");
        let name = name.and_then(|node| {
            let name = self.text(node)?;
            if !is_rule_name(&name) {
                let help = "1 to 64 lower-case letters, digits and `_`";
                return self.wrong(&node.place, "this is no name of a metric", help);
            }
            Some(name)
        });
        let doc = self.summary(&fields, "doc");
        let count = fields.need(self, "count", "Committed")?;
        let count = self.choice(count, "happening", &HAPPENED)?;
        let at = place_of(count);
        let of = fields.need(self, "of", "[HighRisk]");
        let of = of.and_then(|of| self.predicates(of, at));
        let over = match fields.take("over") {
            Some(over) => self.predicates(over, at).map(Some),
            None => Some(None),
        };
        Some(Metric {
            name: name?,
            doc: doc?,
            count,
            of: of?,
            over: over?,
        })
    }
}

/// Which predicates mean something about what happened.
const fn place_of(count: Happened) -> Places {
    match count {
        Happened::Proposed
        | Happened::Committed
        | Happened::Denied
        | Happened::Asked
        | Happened::Observed => Places::CALL,
        Happened::Stored => Places::at(Hook::MemoryWrite),
        Happened::Quarantined => Places::at(Hook::MemoryRead),
        Happened::Delivered => Places::DELIVERED,
    }
}
