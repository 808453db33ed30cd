//! Files and folders, which live in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::errno::Errno;
use super::{Entry, Files, Written};

/// Bytes of a path that is passed, and of a name in it.
const LONGEST: usize = 4_096;
const LONGEST_NAME: usize = 255;
/// What a file or a folder takes besides its path and its content.
const ENTRY: u64 = 256;

/// The root of all files.
pub(crate) const TOP: usize = 0;

/// Files and folders by number; the first is the root of all.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Numbers that are free again.
    free: Vec<usize>,
    /// Bytes that the run has written, with the paths of what it made.
    pub(crate) bytes: Bytes,
}

/// How many bytes there are, and how many there were at most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bytes {
    pub(crate) now: u64,
    pub(crate) most: u64,
}

impl Bytes {
    /// So many were there before, and are now.
    fn replace(&mut self, before: u64, after: u64) {
        self.now = self.now - before + after;
        self.most = self.most.max(self.now);
    }
}

/// A file or a folder.
#[derive(Clone, Debug)]
struct Node {
    /// The folder that it is in; of what was removed, and of the root, there is none.
    inside: Option<usize>,
    /// The folder that it is in, and handles.
    holders: u32,
    /// What of [`Tree::bytes`] its path is.
    cost: u64,
    /// Whether it was made, written or renamed by the run.
    changed: bool,
    times: Times,
    what: What,
}

/// When a file or folder was read and changed last, as the program says: nothing sets these but the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) read: u64,
    pub(crate) changed: u64,
}

#[derive(Clone, Debug)]
enum What {
    Given(Arc<[u8]>),
    Written(Vec<u8>),
    Folder(Folder),
}

#[derive(Clone, Debug, Default)]
struct Folder {
    by_name: BTreeMap<Arc<str>, usize>,
    names: BTreeMap<usize, Arc<str>>,
    /// Bytes of its path, with a slash behind it.
    path: u64,
}

/// What there is of a file or folder to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) number: usize,
    pub(crate) is_folder: bool,
    pub(crate) length: u64,
    /// Whether it has a path.
    pub(crate) linked: bool,
    pub(crate) times: Times,
}

/// Where a path leads.
enum Found<'p> {
    /// To a folder that it does not name: by `.` or `..`.
    Folder(usize),
    /// To a name in a folder, behind which there may be nothing yet. `closed` is one that only a folder can have.
    Name { folder: usize, name: &'p str, node: Option<usize>, closed: bool },
}

/// Whether something can be a path at all. The first that is wrong is told, as exported modules do.
pub(super) fn check(path: &str) -> Result<(), Errno> {
    if path.len() > LONGEST {
        return Err(Errno::NameTooLong);
    }
    let mut name = 0;
    for byte in path.bytes() {
        name = if byte == b'/' { 0 } else { name + 1 };
        if byte == 0 {
            return Err(Errno::Invalid);
        }
        if name > LONGEST_NAME {
            return Err(Errno::NameTooLong);
        }
    }
    Ok(())
}

impl Default for Tree {
    fn default() -> Tree {
        let mut tree = Tree { nodes: Vec::new(), free: Vec::new(), bytes: Bytes::default() };
        tree.add(What::Folder(Folder::default()));
        tree
    }
}

impl Tree {
    pub(crate) fn new(given: &Files) -> Tree {
        let mut tree = Tree::default();
        for (path, entry) in given {
            let mut at = TOP;
            let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
            let above = above.split('/').filter(|part| !part.is_empty());
            let below = above.map(|part| (part, What::Folder(Folder::default())));
            let last = match entry {
                Entry::File(bytes) => What::Given(Arc::clone(bytes)),
                Entry::Folder => What::Folder(Folder::default()),
            };
            for (part, what) in below.chain([(name, last)]) {
                // What is below a file is left out.
                let Ok(folder) = tree.folder(at) else { break };
                at = match folder.by_name.get(part) {
                    Some(node) => *node,
                    None => {
                        let node = tree.add(what);
                        tree.link(at, part, node);
                        node
                    }
                };
            }
        }
        tree
    }

    /// Bytes that a path takes at most below a folder.
    pub(crate) fn cost_of_path(&self, folder: usize, path: &str) -> u64 {
        let above = self.folder(folder).map_or(0, |folder| folder.path);
        above + path.len() as u64 + ENTRY
    }

    /// The file or folder at a path below a folder.
    pub(crate) fn find(&self, folder: usize, path: &str) -> Result<usize, Errno> {
        self.find_or_not(folder, path)?.ok_or(Errno::NoEntry)
    }

    /// The file or folder at a path, if there is one; the folder that it would be in is there.
    pub(crate) fn find_or_not(&self, folder: usize, path: &str) -> Result<Option<usize>, Errno> {
        match self.resolve(folder, path)? {
            Found::Folder(node) => Ok(Some(node)),
            Found::Name { node: Some(node), closed: true, .. } if !self.is_folder(node) => {
                Err(Errno::NotFolder)
            }
            Found::Name { node, .. } => Ok(node),
        }
    }

    pub(crate) fn is_folder(&self, node: usize) -> bool {
        matches!(self.nodes[node].what, What::Folder(_))
    }

    pub(crate) fn stat(&self, node: usize) -> Stat {
        let Node { inside, times, ref what, .. } = self.nodes[node];
        let length = match what {
            What::Given(bytes) => bytes.len(),
            What::Written(bytes) => bytes.len(),
            What::Folder(_) => 0,
        };
        let linked = inside.is_some() || node == TOP;
        Stat { number: node, is_folder: self.is_folder(node), length: length as u64, linked, times }
    }

    pub(crate) fn set_times(&mut self, node: usize, times: Times) {
        self.nodes[node].times = times;
    }

    /// Makes an empty file.
    pub(crate) fn create(&mut self, folder: usize, path: &str) -> Result<usize, Errno> {
        match self.resolve(folder, path)? {
            Found::Name { node: Some(_), .. } => Err(Errno::Exists),
            Found::Folder(_) | Found::Name { closed: true, .. } => Err(Errno::IsFolder),
            Found::Name { folder, name, .. } => self.make(folder, name, What::Written(Vec::new())),
        }
    }

    /// Makes an empty folder.
    pub(crate) fn create_folder(&mut self, folder: usize, path: &str) -> Result<(), Errno> {
        match self.resolve(folder, path)? {
            Found::Folder(_) | Found::Name { node: Some(_), .. } => Err(Errno::Exists),
            Found::Name { folder, name, .. } => {
                self.make(folder, name, What::Folder(Folder::default())).map(drop)
            }
        }
    }

    fn make(&mut self, folder: usize, name: &str, what: What) -> Result<usize, Errno> {
        // Nothing is made in a folder that was removed.
        if !self.stat(folder).linked {
            return Err(Errno::NoEntry);
        }
        let node = self.add(what);
        self.nodes[node].changed = true;
        self.link(folder, name, node);
        self.pay(node);
        Ok(node)
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, folder: usize, path: &str) -> Result<(), Errno> {
        match self.resolve(folder, path)? {
            Found::Folder(_) => Err(Errno::IsFolder),
            Found::Name { node: None, .. } => Err(Errno::NoEntry),
            Found::Name { node: Some(node), .. } if self.is_folder(node) => Err(Errno::IsFolder),
            Found::Name { closed: true, .. } => Err(Errno::NotFolder),
            Found::Name { node: Some(node), .. } => {
                self.unlink(node);
                Ok(())
            }
        }
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&mut self, folder: usize, path: &str) -> Result<(), Errno> {
        match self.resolve(folder, path)? {
            Found::Folder(_) => Err(Errno::Invalid),
            Found::Name { node: None, .. } => Err(Errno::NoEntry),
            Found::Name { node: Some(node), .. } => {
                if !self.folder(node)?.by_name.is_empty() {
                    return Err(Errno::NotEmpty);
                }
                self.unlink(node);
                Ok(())
            }
        }
    }

    /// What renaming moves, and how many bytes that adds at most.
    pub(crate) fn cost_of_rename(&self, from: (usize, &str), to: (usize, &str)) -> (u64, u64) {
        let Ok(Found::Name { node: Some(node), .. }) = self.resolve(from.0, from.1) else { return (0, 0) };
        let moved = self.below(node);
        let path = |node: &usize| self.nodes[*node].inside.map_or(0, |inside| self.path_bytes(inside, *node));
        let paths: u64 = moved.iter().map(path).sum();
        let moved = moved.len() as u64;
        (moved, paths.saturating_add(moved.saturating_mul(self.cost_of_path(to.0, to.1))))
    }

    /// Has something be at another path; what is there is replaced.
    pub(crate) fn rename(&mut self, from: (usize, &str), to: (usize, &str)) -> Result<(), Errno> {
        let Found::Name { node: moved, closed: from_closed, .. } = self.resolve(from.0, from.1)? else {
            return Err(Errno::Invalid);
        };
        let Found::Name { folder, name, node: gone, closed } = self.resolve(to.0, to.1)? else {
            return Err(Errno::Invalid);
        };
        let moved = moved.ok_or(Errno::NoEntry)?;
        let is_folder = self.is_folder(moved);
        match gone {
            _ if (closed || from_closed) && !is_folder => return Err(Errno::NotFolder),
            _ if self.is_in(folder, moved) => return Err(Errno::Invalid),
            Some(gone) if gone == moved => return Ok(()),
            Some(gone) if self.is_in(moved, gone) => return Err(Errno::NotEmpty),
            Some(gone) if is_folder && !self.folder(gone)?.by_name.is_empty() => return Err(Errno::NotEmpty),
            Some(gone) if !is_folder && self.is_folder(gone) => return Err(Errno::IsFolder),
            Some(_) | None if !self.stat(folder).linked => return Err(Errno::NoEntry),
            Some(_) | None => {}
        }
        if let Some(gone) = gone {
            self.unlink(gone);
        }
        self.take_out(moved);
        self.link(folder, name, moved);
        self.nodes[moved].changed = true;
        for node in self.below(moved) {
            if let (Some(inside), What::Folder(_)) = (self.nodes[node].inside, &self.nodes[node].what) {
                let path = self.path_bytes(inside, node) + 1;
                if let What::Folder(folder) = &mut self.nodes[node].what {
                    folder.path = path;
                }
            }
            self.pay(node);
        }
        Ok(())
    }

    /// Whether something is a folder, or below it.
    fn is_in(&self, node: usize, folder: usize) -> bool {
        let mut above = std::iter::successors(Some(node), |node| self.nodes[*node].inside);
        above.any(|at| at == folder)
    }

    /// Names in a folder with what they are of, from a position on, and the position behind each.
    pub(crate) fn list(
        &self,
        node: usize,
        from: usize,
    ) -> Result<impl Iterator<Item = (&str, usize, usize)>, Errno> {
        let folder = self.folder(node)?;
        let above = self.nodes[node].inside.unwrap_or(node);
        let own = [(".", node, 1), ("..", above, 2)].into_iter().skip(from);
        // By number, so that what is removed meanwhile does not move the others.
        let names = folder.names.range(from.saturating_sub(2)..);
        Ok(own.chain(names.map(|(node, name)| (&**name, *node, node + 3))))
    }

    /// What a file holds.
    pub(crate) fn bytes_of(&self, node: usize) -> Result<&[u8], Errno> {
        match &self.nodes[node].what {
            What::Given(bytes) => Ok(bytes),
            What::Written(bytes) => Ok(bytes),
            What::Folder(_) => Err(Errno::IsFolder),
        }
    }

    /// Bytes that a file takes more when it has to reach to a position: with all of one that nobody has written to yet,
    /// for it is copied.
    pub(crate) fn growth(&self, node: usize, end: u64) -> u64 {
        let (copied, length) = match &self.nodes[node].what {
            What::Given(bytes) => (bytes.len() as u64, bytes.len() as u64),
            What::Written(bytes) => (0, bytes.len() as u64),
            What::Folder(_) => (0, u64::MAX),
        };
        copied + end.saturating_sub(length)
    }

    /// Writes into a file; returns where that ended.
    pub(crate) fn write(&mut self, node: usize, at: u64, bytes: &[u8]) -> Result<u64, Errno> {
        let at = usize::try_from(at).map_err(|_| Errno::TooLarge)?;
        let end = at.checked_add(bytes.len()).ok_or(Errno::TooLarge)?;
        self.resize(node, |length| length.max(end))?[at..end].copy_from_slice(bytes);
        Ok(end as u64)
    }

    /// Sets the length of a file.
    pub(crate) fn set_length(&mut self, node: usize, length: u64) -> Result<(), Errno> {
        let length = usize::try_from(length).map_err(|_| Errno::TooLarge)?;
        self.resize(node, |_| length).map(drop)
    }

    /// Gives a file another length, from the one that it has, and its bytes to be written to.
    fn resize(&mut self, node: usize, length: impl Fn(usize) -> usize) -> Result<&mut Vec<u8>, Errno> {
        let Node { what, changed, .. } = &mut self.nodes[node];
        if let What::Given(bytes) = what {
            let end = length(bytes.len());
            let kept = &bytes[..end.min(bytes.len())];
            self.bytes.replace(0, kept.len() as u64);
            *what = What::Written(kept.to_vec());
        }
        let What::Written(bytes) = what else { return Err(Errno::IsFolder) };
        *changed = true;
        let before = bytes.len() as u64;
        bytes.resize(length(bytes.len()), 0);
        self.bytes.replace(before, bytes.len() as u64);
        Ok(bytes)
    }

    /// A handle holds a file or folder.
    pub(crate) fn hold(&mut self, node: usize) {
        self.nodes[node].holders += 1;
    }

    /// One holds a file or folder less; what nobody holds is gone.
    pub(crate) fn let_go(&mut self, node: usize) {
        let held = &mut self.nodes[node];
        held.holders -= 1;
        if held.holders == 0 {
            if let What::Written(bytes) = std::mem::replace(&mut held.what, What::Written(Vec::new())) {
                self.bytes.replace(bytes.len() as u64, 0);
            }
            self.free.push(node);
        }
    }

    /// What is not as it was given.
    pub(crate) fn written(&self, given: &Files) -> Written {
        let mut written = Written::new();
        let mut folders = vec![(TOP, String::new(), false)];
        while let Some((node, path, moved)) = folders.pop() {
            let Ok(folder) = self.folder(node) else { continue };
            for (name, node) in &folder.by_name {
                let path = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
                let changed = moved || self.nodes[*node].changed;
                let entry = match &self.nodes[*node].what {
                    What::Given(bytes) => Entry::File(Arc::clone(bytes)),
                    What::Written(bytes) => Entry::File(bytes.as_slice().into()),
                    What::Folder(_) => {
                        folders.push((*node, path.clone(), changed));
                        Entry::Folder
                    }
                };
                if changed {
                    written.insert(path.into(), Some(entry));
                }
            }
        }
        let gone = given.keys().filter(|path| self.find(TOP, path).is_err());
        written.extend(gone.map(|path| (Arc::clone(path), None)));
        written
    }

    fn folder(&self, node: usize) -> Result<&Folder, Errno> {
        match &self.nodes[node].what {
            What::Folder(folder) => Ok(folder),
            What::Given(_) | What::Written(_) => Err(Errno::NotFolder),
        }
    }

    /// Follows a path from a folder, and never out of it.
    fn resolve<'p>(&self, from: usize, path: &'p str) -> Result<Found<'p>, Errno> {
        check(path)?;
        if path.is_empty() {
            return Err(Errno::NoEntry);
        }
        if path.starts_with('/') {
            return Err(Errno::NotCapable);
        }
        let (mut folder, mut depth) = (from, 0u32);
        let mut parts = path.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
        while let Some(name) = parts.next() {
            let inside = self.folder(folder)?;
            if name == ".." {
                depth = depth.checked_sub(1).ok_or(Errno::NotCapable)?;
                folder = self.nodes[folder].inside.ok_or(Errno::NoEntry)?;
                continue;
            }
            let node = inside.by_name.get(name).copied();
            if parts.peek().is_none() {
                let closed = path.ends_with('/') || path.ends_with("/.");
                return Ok(Found::Name { folder, name, node, closed });
            }
            folder = node.ok_or(Errno::NoEntry)?;
            depth += 1;
        }
        self.folder(folder)?;
        Ok(Found::Folder(folder))
    }

    fn add(&mut self, what: What) -> usize {
        let node = Node { inside: None, holders: 1, cost: 0, changed: false, times: Times::default(), what };
        match self.free.pop() {
            Some(free) => {
                self.nodes[free] = node;
                free
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        }
    }

    /// Puts what is nowhere into a folder.
    fn link(&mut self, folder: usize, name: &str, node: usize) {
        let name: Arc<str> = name.into();
        let What::Folder(into) = &mut self.nodes[folder].what else { return };
        let path = into.path + name.len() as u64 + 1;
        into.by_name.insert(Arc::clone(&name), node);
        into.names.insert(node, name);
        self.nodes[node].inside = Some(folder);
        if let What::Folder(own) = &mut self.nodes[node].what {
            own.path = path;
        }
    }

    /// Takes something out of its folder.
    fn take_out(&mut self, node: usize) {
        let Some(inside) = self.nodes[node].inside.take() else { return };
        if let What::Folder(folder) = &mut self.nodes[inside].what
            && let Some(name) = folder.names.remove(&node)
        {
            folder.by_name.remove(&name);
        }
    }

    /// Takes something out of its folder, which held it.
    fn unlink(&mut self, node: usize) {
        self.take_out(node);
        self.bytes.replace(std::mem::take(&mut self.nodes[node].cost), 0);
        self.let_go(node);
    }

    /// Counts the path of something.
    fn pay(&mut self, node: usize) {
        let cost = self.nodes[node].inside.map_or(0, |inside| self.path_bytes(inside, node) + ENTRY);
        let before = std::mem::replace(&mut self.nodes[node].cost, cost);
        self.bytes.replace(before, cost);
    }

    /// Bytes of the path of something in a folder.
    fn path_bytes(&self, folder: usize, node: usize) -> u64 {
        let folder = self.folder(folder);
        folder.map_or(0, |folder| folder.path + folder.names.get(&node).map_or(0, |name| name.len() as u64))
    }

    /// Something and all below it, folders before what is in them.
    fn below(&self, node: usize) -> Vec<usize> {
        let (mut found, mut next) = (vec![node], 0);
        while let Some(at) = found.get(next) {
            if let Ok(folder) = self.folder(*at) {
                found.extend(folder.names.keys());
            }
            next += 1;
        }
        found
    }
}
