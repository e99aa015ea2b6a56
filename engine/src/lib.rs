//! One rollout, deterministic: a bevy_ecs world driven by a discrete-event agenda.
