//! What performs for a buffered publisher: the calls, each a task of its own, and the clock, which
//! looks when a linger, a pause or a time to close is over. Who changes the state tells what came
//! of it afterwards, when the lock is free.

use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock};

use tokio::runtime::Handle as Runtime;
use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::flush::{Ending, FlushError, Waiter};
use super::state::{News, Phase, State};
use super::{Reply, Room};
use crate::fields;
use crate::message::{PublishError, Published};
use crate::pipeline::error_text;
use crate::sqs::publisher::outbox::{Ended, Pending, Rules};
use crate::sqs::publisher::request::Request;
use crate::sqs::publisher::send::SqsPublisher;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) publisher: SqsPublisher,
    places: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    state: Mutex<State>,
    /// Where calls and clock run.
    runtime: OnceLock<Runtime>,
    /// Makes the clock look.
    look: Notify,
    ending: watch::Sender<Ending>,
}

impl Shared {
    pub(super) fn new(publisher: SqsPublisher, rules: Rules, places: usize, bytes: usize) -> Self {
        Self {
            publisher,
            places: Arc::new(Semaphore::new(places)),
            bytes: Arc::new(Semaphore::new(bytes)),
            state: Mutex::new(State::new(rules)),
            runtime: OnceLock::new(),
            look: Notify::new(),
            ending: watch::Sender::default(),
        }
    }

    /// Changes the state, then tells what came of it.
    fn change<T>(&self, change: impl FnOnce(&mut State, &mut News) -> T) -> T {
        let mut news = News::default();
        let result = {
            let mut state = self.state.lock().unwrap_or_else(|lock| lock.into_inner());
            change(&mut state, &mut news)
        };
        self.tell(news);
        result
    }

    fn tell(&self, news: News) {
        for message in news.ended {
            self.tell_caller(message);
        }
        for answer in news.answers {
            answer.send(self.publisher.queue(), &self.ending);
        }
        if news.wake {
            self.look.notify_one();
        }
    }

    fn tell_caller(&self, message: Ended<Reply>) {
        let queue = self.publisher.queue();
        let request = message.fate.is_err().then(|| Arc::clone(&message.request));
        let (reply, (result, _)) = message.into_result(queue);
        if let Err(Err(error)) = reply.caller.send(result) {
            tracing::error!(
                { fields::QUEUE } = queue,
                { fields::MESSAGE_ID } =
                    request.as_ref().map(|request| request.content.message_id()),
                { fields::ERROR } = error_text(&error),
                "a message was not sent whose caller does not wait for it any more"
            );
        }
    }

    /// Gives a message to the buffer, and waits for its fate.
    pub(super) async fn publish(
        self: &Arc<Self>,
        request: Arc<Request>,
        max_bytes: usize,
    ) -> Result<Published, PublishError> {
        let room = match self.free_room(request.size) {
            Some(room) => room,
            None => Box::pin(self.room(request.size)).await?,
        };
        let (caller, result) = oneshot::channel();
        let reply = Reply {
            caller,
            _room: room,
            _buffered: self.publisher.observer().buffered(),
        };
        self.start();
        let pushed = self.change(|state, news| state.push(request, reply, max_bytes, self, news));
        pushed.map_err(|phase| self.refusal(phase))?;
        let abandoned = |_| {
            Err(PublishError::Abandoned {
                queue: self.publisher.queue().to_owned(),
                refused: false,
            })
        };
        result.await.unwrap_or_else(abandoned)
    }

    /// Starts the clock, the first time.
    fn start(self: &Arc<Self>) {
        self.runtime.get_or_init(|| {
            tokio::spawn(clock(Running(Arc::clone(self))));
            Runtime::current()
        });
    }

    /// Room for a message of so many bytes, if nobody has to wait for it.
    fn free_room(&self, bytes: usize) -> Option<Room> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let bytes = Arc::clone(&self.bytes)
            .try_acquire_many_owned(permits(bytes))
            .ok()?;
        Some([place, bytes])
    }

    /// Waits for room for a message of so many bytes.
    async fn room(&self, bytes: usize) -> Result<Room, PublishError> {
        let deadline = Instant::now() + self.publisher.settings().retry.timeout;
        let permits = async {
            let place = Arc::clone(&self.places).acquire_owned().await?;
            let bytes = Arc::clone(&self.bytes).acquire_many_owned(permits(bytes));
            Ok([place, bytes.await?])
        };
        match timeout_at(deadline, permits).await {
            Ok(Ok(room)) => Ok(room),
            Ok(Err(tokio::sync::AcquireError { .. })) => {
                Err(self.refusal(self.change(|state, _| state.phase())))
            }
            Err(_) => Err(PublishError::Full {
                queue: self.publisher.queue().to_owned(),
            }),
        }
    }

    /// Why the buffer takes nothing: it was closed, or its runtime is gone.
    fn refusal(&self, phase: Phase) -> PublishError {
        let queue = self.publisher.queue().to_owned();
        match phase {
            Phase::Lost | Phase::Dropped => PublishError::Abandoned {
                queue,
                refused: true,
            },
            Phase::Open | Phase::Closing(_) | Phase::Ended => PublishError::Closed { queue },
        }
    }

    /// Spawns a call. Without a runtime there is no message, and none when it is gone: then those of
    /// the call are dropped.
    pub(super) fn spawn(
        self: &Arc<Self>,
        messages: Vec<Pending<Reply>>,
        deadline: Instant,
    ) -> Option<AbortHandle> {
        let call = Arc::clone(self).call(messages, deadline);
        let call = self.runtime.get()?.spawn(call);
        Some(call.abort_handle())
    }

    /// A call, from its request to the last word on its messages.
    async fn call(self: Arc<Self>, messages: Vec<Pending<Reply>>, deadline: Instant) {
        let call = self.publisher.clone().call(messages, deadline).await;
        self.change(|state, news| state.settle(call, &self, news));
    }

    pub(super) async fn flush(self: &Arc<Self>) -> Result<(), FlushError> {
        self.start();
        let (reply, answer) = oneshot::channel();
        let phase = self.change(|state, news| {
            let phase = state.phase();
            if !matches!(phase, Phase::Lost | Phase::Ended) {
                state.flush(Waiter::Flush(reply), self, news);
            }
            phase
        });
        if phase == Phase::Ended {
            return Ok(()); // Closed before: nothing is left.
        }
        answer.await.unwrap_or_else(|_| Err(self.lost()))
    }

    pub(super) async fn close(self: &Arc<Self>, until: Option<Instant>) -> Result<(), FlushError> {
        self.places.close();
        self.bytes.close();
        let mut ended = self.ending.subscribe();
        let phase = self.change(|state, news| {
            state.close(until, self, news);
            state.phase()
        });
        if phase == Phase::Lost {
            return Err(self.lost());
        }
        match ended.wait_for(Ending::is_known).await {
            Ok(ending) => ending.result(),
            Err(_) => Err(self.lost()),
        }
    }

    /// The last handle is gone. Gives how many messages are open, unless it was closed.
    pub(super) fn drop_handle(&self) -> Option<usize> {
        self.change(|state, news| {
            let closed = matches!(state.phase(), Phase::Closing(_) | Phase::Ended);
            let open = state.open();
            state.drop_handle(news);
            (!closed).then_some(open)
        })
    }

    /// The runtime is gone, and nobody knows what became of the messages.
    fn lost(&self) -> FlushError {
        FlushError {
            queue: self.publisher.queue().to_owned(),
            refused: 0,
            unknown: self.change(|state, _| state.open()),
        }
    }
}

fn permits(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// While the clock lives.
struct Running(Arc<Shared>);

impl Drop for Running {
    fn drop(&mut self) {
        let left = self.0.change(|state, _| {
            let over = state.phase() == Phase::Ended;
            (!over).then(|| state.lose())
        });
        if left.is_some() {
            let lost = self.0.lost();
            self.0.ending.send_replace(Ending::new(Err(lost)));
        }
    }
}

/// Looks after what no publish and no call sees to, until the end.
async fn clock(running: Running) {
    let shared = &running.0;
    let mut sleep = pin!(sleep_until(Instant::now()));
    loop {
        let (wake, phase) = shared.change(|state, news| {
            let wake = state.turn(shared, news);
            (wake, state.phase())
        });
        if phase == Phase::Ended {
            return;
        }
        if let Some(at) = wake {
            sleep.as_mut().reset(at);
        }
        tokio::select! {
            biased;
            () = shared.look.notified() => {}
            () = &mut sleep, if wake.is_some() => {}
        }
    }
}
