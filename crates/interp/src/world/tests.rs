use super::*;

fn world() -> World {
    let file = |bytes: &[u8]| Entry::File(bytes.into());
    let files = [("a.txt", file(b"abc")), ("dir/b.txt", file(b"def")), ("empty", Entry::Folder)];
    let files = files.map(|(path, entry)| (Arc::from(path), entry)).into();
    let given = Environment { stdin: "one\r\ntwo".into(), files: Arc::new(files), ..Environment::default() };
    World::new(&given, 8)
}

const READS: Opening =
    Opening { reads: true, writes: false, flags: 0, creates: false, is_new: false, empties: false };
const WRITES: Opening = Opening { reads: false, writes: true, creates: true, ..READS };

fn told(world: &mut World) -> Vec<(String, Option<Entry>)> {
    world.end().2.into_iter().map(|(path, entry)| (path.to_string(), entry)).collect()
}

fn now(path: &str, bytes: &[u8]) -> (String, Option<Entry>) {
    (path.to_owned(), Some(Entry::File(bytes.into())))
}

#[test]
fn what_is_printed_is_bytes_and_ends_where_it_may() {
    let mut world = world();
    world.write(1, &[0xe2, 0x82]).unwrap().unwrap();
    world.write(1, &[0xff]).unwrap().unwrap();
    assert!(world.write(2, "ä€€".as_bytes()).unwrap().is_err());
    assert_eq!((world.stdout.as_slice(), world.stderr.len()), (&[0xe2, 0x82, 0xff][..], 5));
}

#[test]
fn files_are_read_written_and_told() {
    let mut world = world();
    assert_eq!(world.open(TOP, "none", READS), Err(Errno::NoEntry));
    assert_eq!(world.open(TOP, "../a.txt", READS), Err(Errno::NotCapable));
    assert_eq!(world.open(TOP, "dir", READS), Err(Errno::IsFolder));
    assert_eq!(world.open(TOP, "a.txt/", READS), Err(Errno::NotFolder));
    let a = world.open(TOP, "./dir/../a.txt", READS).unwrap();
    assert_eq!(world.ahead(a), Ok(&b"abc"[..]));
    world.skip(a, 2).unwrap();
    assert_eq!(world.ahead(a), Ok(&b"c"[..]));
    // What is refused costs nothing.
    assert_eq!((world.write(a, b"x").err(), world.growth_of_write(a, 1)), (Some(Errno::BadHandle), 0));
    let b = world.open(TOP, "a.txt", WRITES).unwrap();
    assert_eq!((world.growth_of_write(b, 4), b), (4, a + 1));
    world.write(b, b"wxyz").unwrap().unwrap();
    world.write(b, b"").unwrap().unwrap();
    assert_eq!(world.ahead(a), Ok(&b"yz"[..]));
    assert_eq!(world.tree.bytes.now, 4);
    assert_eq!(world.open(TOP, "a.txt/below", WRITES), Err(Errno::NotFolder));
    assert_eq!(world.open(TOP, "a\0b", WRITES), Err(Errno::Invalid));
    assert_eq!(world.open(TOP, "new/a.txt", WRITES), Err(Errno::NoEntry));
    world.close(a).unwrap();
    assert_eq!(world.ahead(a), Err(Errno::BadHandle.into()));
    // Who has a file open keeps it, whatever it is called, and where it is none any more.
    let c = world.open(TOP, "dir/b.txt", READS).unwrap();
    world.tree.rename((TOP, "dir/b.txt"), (TOP, "c.txt")).unwrap();
    assert_eq!(world.ahead(c), Ok(&b"def"[..]));
    let gone = world.open(TOP, "gone", WRITES).unwrap();
    let before = world.tree.bytes.now;
    world.write(gone, b"12345").unwrap().unwrap();
    world.tree.remove(TOP, "gone").unwrap();
    assert!(world.tree.bytes.now < before);
    world.close(gone).unwrap();
    let expected = [now("a.txt", b"wxyz"), now("c.txt", b"def"), ("dir/b.txt".to_owned(), None)];
    assert_eq!(told(&mut world), expected);
}

#[test]
fn folders_are_made_renamed_and_removed() {
    let mut world = world();
    let tree = &mut world.tree;
    assert_eq!(tree.create_folder(TOP, "a.txt"), Err(Errno::Exists));
    assert_eq!(tree.create_folder(TOP, "x/y"), Err(Errno::NoEntry));
    tree.create_folder(TOP, "x").unwrap();
    tree.create_folder(TOP, "x/y/").unwrap();
    assert_eq!(tree.remove_folder(TOP, "x"), Err(Errno::NotEmpty));
    assert_eq!(tree.remove_folder(TOP, "a.txt"), Err(Errno::NotFolder));
    assert_eq!(tree.remove(TOP, "x"), Err(Errno::IsFolder));
    assert_eq!(tree.rename((TOP, "x"), (TOP, "x/y/z")), Err(Errno::Invalid));
    assert_eq!(tree.rename((TOP, "a.txt"), (TOP, "dir")), Err(Errno::IsFolder));
    assert_eq!(tree.rename((TOP, "dir"), (TOP, "a.txt")), Err(Errno::NotFolder));
    assert_eq!(tree.rename((TOP, "x"), (TOP, "dir")), Err(Errno::NotEmpty));
    let (moved, cost) = tree.cost_of_rename((TOP, "dir"), (TOP, "x/y"));
    let before = tree.bytes.now;
    tree.rename((TOP, "dir"), (TOP, "x/y")).unwrap();
    assert!(moved == 2 && tree.bytes.now - before <= cost);
    let (y, names) = (tree.find(TOP, "x/y").unwrap(), |tree: &Tree, node| -> Vec<String> {
        tree.list(node, 0).unwrap().map(|(name, ..)| name.to_owned()).collect()
    });
    assert_eq!(names(tree, y), [".", "..", "b.txt"]);
    // An open folder is itself, too; nothing is made in one that is gone.
    let folder = world.open_folder(TOP, "empty").unwrap();
    let inside = world.folder(folder).unwrap();
    world.tree.rename((TOP, "empty"), (TOP, "full")).unwrap();
    world.tree.create(inside, "f").unwrap();
    world.tree.remove(TOP, "full/f").unwrap();
    world.tree.remove_folder(TOP, "full").unwrap();
    assert_eq!(world.tree.create(inside, "f"), Err(Errno::NoEntry));
    assert!(!world.tree.stat(inside).linked);
    let folder = |path: &str| (path.to_owned(), Some(Entry::Folder));
    let gone = |path: &str| (path.to_owned(), None);
    let expected = [gone("dir/b.txt"), gone("empty"), folder("x"), folder("x/y"), now("x/y/b.txt", b"def")];
    assert_eq!(told(&mut world), expected);
}

#[test]
fn what_is_taken_back_costs_nothing() {
    let mut world = world();
    for round in 0..100 {
        world.tree.create_folder(TOP, "x").unwrap();
        let file = world.open(TOP, "x/file", WRITES).unwrap();
        world.write(file, b"12345").unwrap().unwrap();
        world.tree.rename((TOP, "x"), (TOP, &format!("{round}"))).unwrap();
        world.tree.remove(TOP, &format!("{round}/file")).unwrap();
        world.tree.remove_folder(TOP, &format!("{round}")).unwrap();
        world.close(file).unwrap();
        assert_eq!(world.tree.bytes.now, 0);
    }
    assert!(told(&mut world).is_empty());
}

#[test]
fn what_lies_below_a_file_is_left_out() {
    let file = || Entry::File([].into());
    let files =
        [("a", file()), ("a/b", file()), ("a/b/c", Entry::Folder)].map(|(path, of)| (path.into(), of));
    let tree = Tree::new(&files.into());
    assert_eq!(tree.find(TOP, "a/b"), Err(Errno::NotFolder));
}
