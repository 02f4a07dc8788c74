//! Mutual TLS: the processes of a cluster and its clients show each other certificates of one authority.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use ballista_core::extension::EndpointOverrideFn;
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use datafusion::common::{DataFusionError, Result, exec_datafusion_err};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, ServerTlsConfig};

/// A certificate with its key, and the authority that must have signed the certificates of others.
#[derive(Clone)]
pub struct Tls {
    authority: Vec<u8>,
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// The names of the files in a folder of certificates, all in PEM format.
const AUTHORITY: &str = "ca.pem";
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the files ca.pem, certificate.pem and key.pem of a folder.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn open(folder: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(|error| exec_datafusion_err!("could not read {}: {error}", path.display()))
        };
        Ok(Self { authority: read(AUTHORITY)?, certificate: read(CERTIFICATE)?, key: read(KEY)? })
    }

    /// Writes an authority, and one certificate of it for the given host names and IP addresses, to a folder. The key
    /// of the authority is not kept, so there will be no other certificate of it.
    ///
    /// # Errors
    /// If a host name is not valid, or the files cannot be written.
    pub fn generate(folder: &Path, hosts: &[String]) -> Result<()> {
        let refused = |error: rcgen::Error| exec_datafusion_err!("could not make certificates: {error}");
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority_key = KeyPair::generate().map_err(refused)?;
        let signed = authority.self_signed(&authority_key).map_err(refused)?;
        let mut own = CertificateParams::new(hosts).map_err(refused)?;
        own.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().map_err(refused)?;
        let own = own.signed_by(&key, &Issuer::new(authority, authority_key)).map_err(refused)?;
        std::fs::create_dir_all(folder)?;
        let files = [(AUTHORITY, signed.pem()), (CERTIFICATE, own.pem()), (KEY, key.serialize_pem())];
        for (name, content) in files {
            write_secret(&folder.join(name), &content)?;
        }
        Ok(())
    }

    fn identity(&self) -> Identity {
        Identity::from_pem(&self.certificate, &self.key)
    }

    /// Returns the configuration of a server, which accepts only clients with a certificate.
    pub(crate) fn server(&self) -> ServerTlsConfig {
        ServerTlsConfig::new().identity(self.identity()).client_ca_root(Certificate::from_pem(&self.authority))
    }

    /// Returns the endpoint at an address, for encrypted connections only.
    fn endpoint(&self, address: &str) -> Result<Endpoint, tonic::transport::Error> {
        let client = ClientTlsConfig::new().identity(self.identity());
        let client = client.ca_certificate(Certificate::from_pem(&self.authority));
        let endpoint = Endpoint::from_shared(format!("https://{address}"))?;
        create_grpc_client_endpoint(endpoint, Some(&GrpcClientConfig::default()))?.tls_config(client)
    }

    /// Returns a function that replaces the endpoint of any connection by an encrypted one.
    pub(crate) fn encrypt(&self) -> EndpointOverrideFn {
        let this = self.clone();
        Arc::new(move |endpoint| {
            let address = endpoint.uri().authority().map(ToString::to_string);
            Ok(this.endpoint(&address.ok_or("the address has no host")?)?)
        })
    }
}

/// Returns the endpoint at an address, encrypted if there are certificates.
pub(crate) fn endpoint(certificates: Option<&Tls>, address: &str) -> Result<Endpoint, tonic::transport::Error> {
    match certificates {
        Some(certificates) => certificates.endpoint(address),
        None => Endpoint::from_shared(format!("http://{address}")),
    }
}

/// Writes a file that only its owner can read, and never replaces one.
fn write_secret(path: &Path, content: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(content.as_bytes()));
    written.map_err(|error| DataFusionError::IoError(error).context(format!("could not write {}", path.display())))
}
