//! From the rows of a study to tables, claims and the scorecard.
//!
//! One direction: [`evidence`] arranges rows, [`analysis`] estimates, [`tables`] puts estimates into
//! cells, [`render`] writes cells, [`figures`] draws, and [`scorecard`] holds cells against the
//! [`published`] numbers. [`claims`] says which of the numbers may be claimed. Nothing here simulates,
//! and nothing is looked up: the published numbers meet ours in the scorecard only.

pub mod analysis;
pub mod claims;
pub mod evidence;
pub mod figures;
pub mod headings;
pub mod metric;
pub mod published;
pub mod render;
pub mod scorecard;
pub mod table;
pub mod tables;
pub mod threshold;
mod work;

#[cfg(test)]
mod fixture;
