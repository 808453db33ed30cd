//! Certificates for a server of the tests and its clients, made anew each time.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::path::Path;

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    KeyUsagePurpose,
};

/// By which name the server has a certificate. By its address it has none.
pub(crate) const SERVER: &str = "localhost";

/// Who may come in with a certificate alone.
pub(crate) const CLIENT: &str = "certified";

/// Makes a folder with `ca.pem`, which certifies `server.pem` and `client.pem`, their keys, and `other.pem`, an authority
/// that certifies nobody. `owner` is whom the server runs as, if that is somebody else: keys are for their owner only.
pub(crate) fn make(folder: &Path, owner: Option<u32>) -> Result<()> {
    fs::create_dir(folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
    let write = |name: &str, mode: u32, content: String| -> Result<()> {
        let path = folder.join(name);
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
        file.and_then(|mut file| file.write_all(content.as_bytes()))
            .with_context(|| format!("`{}` cannot be written", path.display()))?;
        Ok(chown(path, owner, owner)?)
    };
    let authority = authority("lmlang tests")?;
    write("ca.pem", 0o644, authority.pem())?;
    write("other.pem", 0o644, self::authority("somebody else")?.pem())?;
    for (file, name) in [("server", SERVER), ("client", CLIENT)] {
        let key = KeyPair::generate()?;
        let mut asked = CertificateParams::new([name.to_owned()])?;
        asked.distinguished_name = called(name);
        write(&format!("{file}.pem"), 0o644, asked.signed_by(&key, &authority)?.pem())?;
        write(&format!("{file}.key"), 0o600, key.serialize_pem())?;
    }
    Ok(())
}

fn authority(name: &str) -> Result<CertifiedIssuer<'static, KeyPair>> {
    let mut asked = CertificateParams::default();
    asked.distinguished_name = called(name);
    asked.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    asked.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    Ok(CertifiedIssuer::self_signed(asked, KeyPair::generate()?)?)
}

fn called(name: &str) -> DistinguishedName {
    let mut called = DistinguishedName::new();
    called.push(DnType::CommonName, name);
    called
}
