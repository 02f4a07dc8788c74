//! Compiles and runs the Rust programs of the pages in this folder: `cargo test -p echostack-docs`.
//!
//! The pages lie outside the published crates, so their tests do, too.

macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($path)]
            struct $name;
        )*
    };
}

pages! {
    GettingStarted: "getting-started.md",
    Embed: "embed.md",
    AddABaseline: "add-a-baseline.md",
    AddAReservoir: "add-a-reservoir.md",
    Tables: "tables.md",
    Certificates: "certificates.md",
    Format: "format.md",
    Grammars: "grammars.md",
    Texts: "texts.md",
}
