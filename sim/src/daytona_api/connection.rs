//! Connections: one request after the other, and the few that are cut without an answer.
//!
//! An answer that is lost on the way is a connection that ends without a byte. A web framework has
//! no word for that, so the connections are served one level below it.

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tower::ServiceExt;

/// Marks a response that must not be sent: the connection is cut instead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut;

/// The error that makes the connection end.
#[derive(Debug, thiserror::Error)]
#[error("the answer is lost on purpose")]
struct Lost;

/// A response that is never sent.
pub(super) fn cut() -> Response {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(Cut);
    response
}

/// Serves connections until it is dropped, and they end with it.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // Nothing can be done about a connection that failed before it began.
                let Ok((stream, address)) = accepted else { continue };
                connections.spawn(serve_one(stream, address, router.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve_one(stream: TcpStream, address: SocketAddr, router: Router) {
    // Small answers must not wait for more to come.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let router = router.clone();
        async move {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(address));
            let answered: Result<Response, Infallible> = router.oneshot(request).await;
            let Ok(response) = answered;
            if response.extensions().get::<Cut>().is_some() { Err(Lost) } else { Ok(response) }
        }
    });
    // How a connection ends is the client's business.
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
}
