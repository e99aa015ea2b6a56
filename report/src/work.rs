//! Independent work over threads, its results in the order of the questions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Answers every question, on up to `threads` threads, the calling one included; the order of the answers is that of the
/// questions, whoever was quicker.
pub(crate) fn each<Q: Sync, A: Send>(
    threads: usize,
    questions: &[Q],
    answer: impl Fn(&Q) -> A + Sync,
) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 1..threads.clamp(1, questions.len().max(1)) {
            let (send, next, answer) = (send.clone(), &next, &answer);
            let work = move || {
                while let Some((place, question)) = take(next, questions) {
                    if send.send((place, answer(question))).is_err() {
                        break;
                    }
                }
            };
            // Where the system starts no more threads, fewer do the work.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        while let Some((place, question)) = take(&next, questions) {
            if send.send((place, answer(question))).is_err() {
                break;
            }
        }
        drop(send);
        let mut answers: Vec<(usize, A)> = receive.iter().collect();
        answers.sort_by_key(|(place, _)| *place);
        answers.into_iter().map(|(_, answer)| answer).collect()
    })
}

fn take<'q, Q>(next: &AtomicUsize, questions: &'q [Q]) -> Option<(usize, &'q Q)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    Some((place, questions.get(place)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_questions() {
        let questions: Vec<u64> = (0..100).collect();
        for threads in [0, 1, 2, 7, 300] {
            let answers = each(threads, &questions, |question| question * question);
            assert!(
                answers
                    .iter()
                    .zip(&questions)
                    .all(|(answer, question)| *answer == question * question)
            );
            assert_eq!(answers.len(), 100);
        }
        assert!(each(3, &[] as &[u64], |question| *question).is_empty());
    }
}
