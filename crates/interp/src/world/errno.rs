//! Why something of the world is refused.

use crate::machine::Stop;

/// An error that the program is told, as WASI numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Errno {
    BadHandle = 8,
    Exists = 20,
    Fault = 21,
    TooLarge = 22,
    Invalid = 28,
    IsFolder = 31,
    TooManyOpen = 33,
    NameTooLong = 37,
    NoEntry = 44,
    NotFolder = 54,
    NotEmpty = 55,
    NotSupported = 58,
    IsPipe = 70,
    NotCapable = 76,
}

impl Errno {
    /// What an operator gives in place of a handle or a length.
    pub(super) fn negative(self) -> i32 {
        -(self as i32)
    }
}

/// Why something is not done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The program is told.
    Errno(Errno),
    /// The run ends, or goes on when there is what it waits for.
    Stop(Stop),
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Refusal {
        Refusal::Errno(errno)
    }
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Refusal {
        Refusal::Stop(stop)
    }
}
