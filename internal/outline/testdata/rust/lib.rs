// Copyright the authors.
//! Parses sizes such as `10k`.
//!
//! More about it.

use std::{fmt, io::Read};
use crate::unit::Unit as U;

/// The largest size.
pub const MAX: u64 = 1 << 40;
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A size with its unit.
#[derive(Debug, Clone)]
pub struct Size<'a, T: Copy = u64> where T: Into<u64> {
    /// How many.
    pub amount: T,
    unit: &'a str,
}

pub struct Wrapper(pub u8, String);
pub struct Unit;

/// What can go wrong.
pub enum Error {
    /// No digits.
    Empty,
    Bad { at: usize, what: String },
    Io(std::io::Error) // from below
}

pub trait Parse: Sized {
    type Out;
    const NAME: &'static str = "x";
    /// Parses it.
    fn parse(s: &str) -> Result<Self::Out, Error>;
    fn default() -> Self { todo!() }
}

impl<'a, T> Size<'a, T> {
    /// Makes one.
    pub fn new(
        amount: T,
        unit: &'a str,
    ) -> Self {
        fn inner() {}
        Size { amount, unit } // done
    }
    pub(crate) async unsafe fn raw(&mut self) -> *const u8 { r#"// "no" comment"#.as_ptr() }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) }
}

pub mod unit {
    pub fn kilo() -> u64 { 1000 }
    fn private() {}
}
mod tests;

/// Adds them all.
#[macro_export]
macro_rules! sum { ($($x:expr),*) => { 0 $(+ $x)* }; }

extern "C" { fn strlen(s: *const c_char) -> usize; }
