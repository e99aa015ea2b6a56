//! The built-in policies (defences), one file each.
