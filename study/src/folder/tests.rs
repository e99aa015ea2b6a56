use super::*;

#[test]
fn what_is_in_the_way_of_a_file_is_told() {
    for name in [MANIFEST, ROWS, SCENARIOS, JOURNAL, LOCK] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(name)).unwrap();
        let error = Folder::open(folder.path()).unwrap_err();
        assert!(matches!(error, FolderError::InTheWay(_)), "{error}");
    }
}

#[test]
fn two_studies_do_not_write_into_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = Folder::open(folder.path()).unwrap();
    let error = Folder::open(folder.path()).unwrap_err();
    assert!(matches!(error, FolderError::InUse(_)), "{error}");
    drop(first);
    Folder::open(folder.path()).unwrap();
}
