//! Messages to the client, from code that does not wait.
//!
//! They are sent in the order they are given. What a request is answered with comes back as a call; nobody waits for it.

use std::fmt;

use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tower_lsp_server::Client;
use tower_lsp_server::jsonrpc;
use tower_lsp_server::ls_types::notification::Notification;
use tower_lsp_server::ls_types::request::Request;

type Delivery = Box<dyn FnOnce(Client) -> BoxFuture<'static, ()> + Send>;

/// Takes messages to the client.
#[derive(Clone)]
pub(crate) struct Outbox {
    queue: mpsc::UnboundedSender<Delivery>,
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

impl Outbox {
    /// An outbox for a client. Runs on the runtime it is made in.
    pub(crate) fn new(client: Client) -> Self {
        let (queue, mut deliveries) = mpsc::unbounded_channel::<Delivery>();
        tokio::spawn(async move {
            while let Some(delivery) = deliveries.recv().await {
                delivery(client.clone()).await;
            }
        });
        Self { queue }
    }

    /// Sends a notification.
    pub(crate) fn notify<N>(&self, params: N::Params)
    where
        N: Notification,
        N::Params: Send + 'static,
    {
        self.deliver(Box::new(|client| Box::pin(async move { client.send_notification::<N>(params).await })));
    }

    /// Sends a request; `then` is called with the answer, if there ever is one.
    pub(crate) fn request<R>(&self, params: R::Params, then: impl FnOnce(jsonrpc::Result<R::Result>) + Send + 'static)
    where
        R: Request,
        R::Params: Send + 'static,
        R::Result: Send + 'static,
    {
        self.deliver(Box::new(|client| {
            Box::pin(async move {
                tokio::spawn(async move { then(client.send_request::<R>(params).await) });
            })
        }));
    }

    fn deliver(&self, delivery: Delivery) {
        // The queue lives as long as the runtime.
        let _ = self.queue.send(delivery);
    }
}
