//! The model servers, and what is told apart from them.

use super::KnowledgeError;
use super::data::Data;
use super::image::Image;
use super::preset::Preset;
use super::recognise::image_row;
use super::rows::{CommandRow, ImageRow, OthersRow};

/// Everything that recognition needs.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) presets: Vec<Preset>,
    pub(super) followers: Vec<CommandRow>,
    pub(super) clusters: Vec<CommandRow>,
    pub(super) interactive_commands: Vec<String>,
    pub(super) interactive_images: Vec<String>,
    pub(super) infrastructure_commands: Vec<String>,
    pub(super) infrastructure_images: Vec<String>,
}

impl Servers {
    /// The lists that this room reads.
    pub(super) const LISTS: [&str; 5] = [
        "servers",
        "followers",
        "clusters",
        "interactive",
        "infrastructure",
    ];

    /// Reads them.
    pub(super) fn read(data: &Data) -> Result<Self, KnowledgeError> {
        let servers = Self::read_part(data)?;
        let bare = |preset: &&Preset| preset.images.is_empty() && preset.commands.is_empty();
        if let Some(preset) = servers.presets.iter().find(bare) {
            let place = format!("servers[{}]", preset.id());
            return Err(KnowledgeError::new(
                place,
                "names neither images nor commands, so nothing is recognised by it",
            ));
        }
        Ok(servers)
    }

    /// Reads data that may only change what other data describes.
    pub(super) fn read_part(data: &Data) -> Result<Self, KnowledgeError> {
        let (interactive_commands, interactive_images) = others(data, "interactive")?;
        let (infrastructure_commands, infrastructure_images) = others(data, "infrastructure")?;
        Ok(Self {
            presets: data.rows("servers")?,
            followers: data.rows("followers")?,
            clusters: data.rows("clusters")?,
            interactive_commands,
            interactive_images,
            infrastructure_commands,
            infrastructure_images,
        })
    }

    /// The preset whose images an image belongs to.
    pub(super) fn by_image(&self, image: Image<'_>) -> Option<(&Preset, &ImageRow)> {
        self.presets
            .iter()
            .find_map(|preset| Some((preset, image_row(preset, image)?)))
    }
}

/// The commands and the images of a list.
fn others(data: &Data, list: &str) -> Result<(Vec<String>, Vec<String>), KnowledgeError> {
    let rows: Vec<OthersRow> = data.rows(list)?;
    let (mut commands, mut images) = (Vec::new(), Vec::new());
    for row in rows {
        commands.extend(row.commands);
        images.extend(row.images);
    }
    Ok((commands, images))
}
