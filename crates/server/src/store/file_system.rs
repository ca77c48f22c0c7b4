//! File systems on which a database of SQLite can be damaged.

use std::path::Path;

/// File systems of networks, by the numbers that `statfs` gives (Linux, `statfs(2)`). Their locks and their order of writes are not those
/// that SQLite needs.
#[cfg(target_os = "linux")]
const NETWORK: [(u32, &str); 11] = [
    (0x0000_6969, "NFS"),
    (0x0000_517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x6573_5546, "FUSE, which may be sshfs or another network's"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x0bd0_0bd0, "Lustre"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
];

/// The name of the network's file system that holds a folder. `None` for a disk of this machine, and where the system does not say.
pub(crate) fn network(folder: &Path) -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    {
        // Numbers of file systems have 32 bits, and some targets extend their sign.
        #[allow(clippy::cast_sign_loss, reason = "the low 32 bits are meant")]
        name(rustix::fs::statfs(folder).ok()?.f_type as u32)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        None
    }
}

#[cfg(target_os = "linux")]
fn name(kind: u32) -> Option<&'static str> {
    NETWORK.iter().find(|(known, _)| *known == kind).map(|(_, name)| *name)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_networks_have_names_and_disks_have_none() {
        assert_eq!(name(0x6969), Some("NFS"));
        // The constant of CIFS is negative as a 32-bit integer.
        assert_eq!(name(-11_317_950_i64 as u32), Some("CIFS"));
        for disk in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
            assert_eq!(name(disk), None, "{disk:x}");
        }
        assert_eq!(network(tempfile::tempdir().unwrap().path()), None);
    }
}
