//! One HTTP connection that is kept, with as little beside it as can be: what measures must not
//! cost more than what is measured.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// A connection to one server.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    address: SocketAddr,
    authorization: String,
}

/// No answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(#[from] std::io::Error),
    /// It broke.
    #[error("no answer: {0}")]
    Http(#[from] hyper::Error),
    /// The request cannot be written as HTTP.
    #[error("no request: {0}")]
    Request(#[from] axum::http::Error),
    /// An answer that is not the one that was wanted.
    #[error("{status}: {body}")]
    Status {
        /// HTTP status.
        status: u16,
        /// What it said.
        body: String,
    },
    /// An answer that is no JSON.
    #[error("an answer that is no JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Connection {
    /// Connects. Every request bears the key.
    pub(crate) async fn open(address: SocketAddr, key: &str) -> Result<Self, ConnectionError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // It ends with the sender, or when the server closes it.
        tokio::spawn(connection);
        Ok(Self { sender, address, authorization: format!("Bearer {key}") })
    }

    /// One request; gives the status and the body.
    pub(crate) async fn call(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<(u16, Bytes), ConnectionError> {
        let mut request = hyper::Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.address.to_string())
            .header("authorization", &self.authorization)
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.sender.ready().await?;
        let response = self.sender.send_request(request.body(Full::new(body))?).await?;
        let status = response.status().as_u16();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }

    /// One request that must succeed; gives its JSON.
    pub(crate) async fn json(
        &mut self,
        method: &str,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<serde_json::Value, ConnectionError> {
        let (status, body) = self.call(method, path, &[], body.to_string().into()).await?;
        if !(200..300).contains(&status) {
            let body = String::from_utf8_lossy(&body).into_owned();
            return Err(ConnectionError::Status { status, body });
        }
        if body.is_empty() {
            return Ok(serde_json::Value::Null);
        }
        Ok(serde_json::from_slice(&body)?)
    }
}
