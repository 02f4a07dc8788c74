//! Figures as files, and the errors of making them.

use echostack::reservoir::ReservoirError;
use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::render::render::Scene;

/// A drawn figure.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The name of its files, without extensions.
    pub name: &'static str,
    /// The figure as SVG.
    pub svg: String,
    /// The figure as PNG.
    pub png: Vec<u8>,
}

/// The reason why a figure could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A reservoir could not be built.
    #[error(transparent)]
    Reservoir(#[from] ReservoirError),
    /// The figure could not be rendered.
    #[error("the figure {name} could not be rendered: {error}")]
    Picture {
        /// The name of the figure.
        name: &'static str,
        /// The reason.
        error: String,
    },
}

// The colors of Okabe and Ito, which people with any kind of color vision can tell apart.
pub(crate) const BLUE: &str = "#0072b2";
pub(crate) const ORANGE: &str = "#d55e00";
pub(crate) const GREEN: &str = "#009e73";

/// Renders a figure in both formats.
pub(crate) fn drawing(name: &'static str, scene: &Scene) -> Result<Drawing, FigureError> {
    let png = PngBackend::new().render_scene(scene).map_err(|error| FigureError::Picture { name, error })?;
    Ok(Drawing { name, svg: SvgBackend.render_scene(scene), png })
}
