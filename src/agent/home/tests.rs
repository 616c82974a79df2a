use super::*;

#[test]
fn a_path_that_no_socket_fits_into_is_told() {
    let deep = PathBuf::from(format!("/{}", "d".repeat(80)));
    assert_eq!(long_socket(&deep), None);
    let notice = long_socket(&deep.join("e".repeat(30))).expect("too long");
    assert!(notice.contains("107"), "{notice}");
}
