//! The run of one event: its records prepared, planned into calls, handled up to the bound and to
//! the deadline, dead letters sent. It owns all that an invocation knows, and ends with it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tracing::Instrument as _;

use super::consumer::{Inner, Limits};
use super::event::EventRecord;
use super::fate::{Fate, Fates, group_of};
use super::plan::{Call, plan};
use super::prepare::{Job, prepare, station};
use super::queues::Source;
use crate::invocation::Invocation;
use crate::panics::Panicked;
use crate::pipeline::{DeadLetterMessage, Ending, Processed, Settlement, Subject};
use crate::policy::ReportKind;
use crate::telemetry::Settled;
use crate::{BoxError, BoxFuture};

/// The deadline came before the handler's end.
#[derive(Debug, thiserror::Error)]
#[error("the handler was cancelled, because the invocation is about to end")]
struct DeadlineReached;

pub(super) struct Run<'a> {
    inner: &'a Inner,
    invocation: &'a Invocation,
    records: &'a [EventRecord],
    limits: Limits,
    fates: Fates<'a>,
    /// In the order of the records; those that are missing could not be prepared in time.
    jobs: Vec<Option<Job>>,
    calls: Vec<Call>,
    /// For each call, how many others it waits for.
    waits: Vec<usize>,
    /// For each call, those that wait for it.
    followers: Vec<Vec<usize>>,
    /// For each call, the records that it runs.
    members: Vec<Vec<usize>>,
    /// For each call, how many of them have no end yet.
    open: Vec<usize>,
    call_of: Vec<usize>,
    ready: VecDeque<usize>,
    failed_groups: HashSet<(&'a str, &'a str)>,
    tasks: JoinSet<Vec<Processed>>,
    running: HashMap<Id, usize>,
    unsent: VecDeque<(usize, DeadLetterMessage)>,
    sends: FuturesUnordered<BoxFuture<'static, (usize, Result<(), BoxError>)>>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        inner: &'a Inner,
        invocation: &'a Invocation,
        records: &'a [EventRecord],
        limits: Limits,
    ) -> Self {
        Self {
            inner,
            invocation,
            records,
            limits,
            fates: Fates::new(records),
            jobs: Vec::new(),
            calls: Vec::new(),
            waits: Vec::new(),
            followers: Vec::new(),
            members: Vec::new(),
            open: Vec::new(),
            call_of: vec![0; records.len()],
            ready: VecDeque::new(),
            failed_groups: HashSet::new(),
            tasks: JoinSet::new(),
            running: HashMap::new(),
            unsent: VecDeque::new(),
            sends: FuturesUnordered::new(),
        }
    }

    /// Runs to the end, or to the deadline.
    pub(super) async fn finish(mut self) -> (Fates<'a>, Vec<Option<Job>>) {
        self.prepare();
        self.plan();
        let mut is_cut = false;
        loop {
            self.start_calls();
            self.start_sends();
            if self.tasks.is_empty() && self.sends.is_empty() {
                break;
            }
            let (cut, end) = (self.limits.cut, self.limits.end);
            tokio::select! {
                biased;
                Some(ended) = self.tasks.join_next_with_id() => self.on_task(ended),
                Some((record, sent)) = self.sends.next() => self.on_sent(record, sent),
                () = at(cut), if !is_cut => {
                    is_cut = true;
                    self.cut_off().await;
                }
                () = at(end) => break,
            }
        }
        (self.fates, self.jobs)
    }

    fn prepare(&mut self) {
        let job = |record| {
            let in_time = !self.is_over();
            in_time.then(|| prepare(self.inner, self.invocation, record))
        };
        self.jobs = self.records.iter().map(job).collect();
    }

    /// Nothing is begun any more.
    fn is_over(&self) -> bool {
        self.limits.cut.is_some_and(|cut| cut <= Instant::now())
    }

    fn plan(&mut self) {
        let stations: Vec<_> = self.records.iter().zip(&self.jobs).map(station).collect();
        self.calls = plan(&stations);
        self.followers = vec![Vec::new(); self.calls.len()];
        for (at, call) in self.calls.iter().enumerate() {
            for before in &call.after {
                self.followers[*before].push(at);
            }
            for record in &call.records {
                self.call_of[*record] = at;
            }
        }
        self.waits = self.calls.iter().map(|call| call.after.len()).collect();
        self.members = vec![Vec::new(); self.calls.len()];
        self.open = vec![0; self.calls.len()];
        self.ready = (0..self.calls.len())
            .filter(|at| self.waits[*at] == 0)
            .collect();
    }

    fn start_calls(&mut self) {
        while self.tasks.len() < self.inner.options.concurrency {
            if self.is_over() {
                return;
            }
            let Some(call) = self.ready.pop_front() else {
                return;
            };
            self.start(call);
        }
    }

    fn start(&mut self, call: usize) {
        let mut source = None;
        let mut prepared = Vec::new();
        for record in self.calls[call].records.clone() {
            if self.is_behind_failure(record) {
                continue;
            }
            let Some(job) = &mut self.jobs[record] else {
                self.fail_group(record);
                continue;
            };
            match job.prepared.take() {
                Some(Ok(mut one)) => {
                    // A claim of this delivery must not outlive the invocation.
                    one.set_visible_after(self.invocation.remaining());
                    source.get_or_insert_with(|| Arc::clone(&job.source));
                    self.members[call].push(record);
                    prepared.push(one);
                }
                Some(Err(error)) => {
                    let source = Arc::clone(&job.source);
                    self.report(&source, ReportKind::Poison, record, &error);
                    self.fates.set(record, Fate::Left);
                    self.fail_group(record);
                }
                None => {}
            }
        }
        self.open[call] = prepared.len();
        let Some(source) = source else {
            self.complete(call);
            return;
        };
        let batch = self.calls[call].batch;
        let work = async move {
            match (batch, prepared.pop()) {
                (None, Some(one)) => vec![source.pipeline.handle(one).await],
                (Some(handler), Some(last)) => {
                    prepared.push(last);
                    source.pipeline.handle_batch(handler, prepared).await
                }
                (_, None) => Vec::new(),
            }
        };
        let task = self.tasks.spawn(work.in_current_span());
        self.running.insert(task.id(), call);
    }

    fn on_task(&mut self, ended: Result<(Id, Vec<Processed>), JoinError>) {
        let id = match &ended {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Some(call) = self.running.remove(&id) else {
            return;
        };
        let members = self.members[call].clone();
        match ended {
            Ok((_, processed)) => {
                for (record, processed) in members.into_iter().zip(processed) {
                    self.settle(record, processed);
                }
            }
            Err(error) => {
                let cancelled = error.is_cancelled();
                let panicked = error.try_into_panic().ok();
                let panicked = panicked.map(|panic| Panicked::with(&*panic));
                for record in members {
                    if let Some(job) = &self.jobs[record] {
                        let source = Arc::clone(&job.source);
                        match &panicked {
                            Some(error) => self.report(&source, ReportKind::Handler, record, error),
                            None if cancelled => {
                                self.report(&source, ReportKind::Handler, record, &DeadlineReached);
                            }
                            None => {}
                        }
                    }
                    self.end(record, Fate::Failed(None));
                }
            }
        }
    }

    fn settle(&mut self, record: usize, processed: Processed) {
        if let Some(job) = &mut self.jobs[record] {
            #[cfg(feature = "idempotency")]
            if matches!(processed.settlement, Settlement::Delete) {
                let envelope = processed.envelope();
                job.remembered = envelope.and_then(|read| read.meta().id().map(str::to_owned));
            }
            job.handled = processed.handled;
            if let (Ending::Failed, Settlement::Release { .. }) =
                (processed.ending, &processed.settlement)
            {
                job.source.counters.retried.one();
            }
        }
        let fate = match processed.settlement {
            Settlement::Delete => Fate::Done,
            Settlement::Leave => Fate::Left,
            Settlement::Release {
                delay,
                stated: true,
            } => Fate::Stated(delay),
            Settlement::Release { delay, .. } => Fate::Failed(Some(delay)),
            // It is not its turn yet.
            Settlement::DeadLetter(_) if self.is_behind_failure(record) => Fate::Left,
            Settlement::DeadLetter(message) => {
                self.unsent.push_back((record, *message));
                return;
            }
        };
        self.end(record, fate);
    }

    fn start_sends(&mut self) {
        while self.sends.len() < self.inner.options.concurrency {
            let Some((record, message)) = self.unsent.pop_front() else {
                return;
            };
            if let Some(job) = &self.jobs[record] {
                let source = Arc::clone(&job.source);
                let settled = Settled::of(std::iter::once(&job.handled));
                let send = async move { (record, settled.scope(source.bury(message)).await) };
                self.sends.push(Box::pin(send));
            }
        }
    }

    fn on_sent(&mut self, record: usize, sent: Result<(), BoxError>) {
        let job = self.jobs[record].as_ref();
        match (&sent, job.map(|job| Arc::clone(&job.source))) {
            (Ok(()), Some(source)) => source.counters.dead_lettered.one(),
            (Err(error), Some(source)) => {
                self.report(&source, ReportKind::DeadLetter, record, &**error);
            }
            (_, None) => {}
        }
        self.end(record, sent.map_or(Fate::Left, |()| Fate::Buried));
    }

    /// A record of a running call has come to its end.
    fn end(&mut self, record: usize, fate: Fate) {
        self.fates.set(record, fate);
        if !fate.is_done() {
            self.fail_group(record);
        }
        let call = self.call_of[record];
        self.open[call] = self.open[call].saturating_sub(1);
        if self.open[call] == 0 {
            self.complete(call);
        }
    }

    /// Nothing of its group runs any more in this invocation.
    fn fail_group(&mut self, record: usize) {
        self.failed_groups.extend(group_of(&self.records[record]));
    }

    fn is_behind_failure(&self, record: usize) -> bool {
        let group = group_of(&self.records[record]);
        group.is_some_and(|group| self.failed_groups.contains(&group))
    }

    fn complete(&mut self, call: usize) {
        for later in std::mem::take(&mut self.followers[call]) {
            self.waits[later] -= 1;
            if self.waits[later] == 0 {
                self.ready.push_back(later);
            }
        }
    }

    /// Cancels what still runs, and gives its claims back: another delivery may run at once.
    async fn cut_off(&mut self) {
        self.ready.clear();
        self.tasks.abort_all();
        // Bounded, because a handler that blocks its thread cannot be cancelled.
        let ended = async {
            let mut ended = Vec::new();
            while let Some(task) = self.tasks.join_next_with_id().await {
                ended.push(task);
            }
            ended
        };
        let half = self.limits.cut.zip(self.limits.end);
        let half = half.map_or_else(Instant::now, |(cut, end)| cut + (end - cut) / 2);
        if let Ok(ended) = tokio::time::timeout_at(half, ended).await {
            ended.into_iter().for_each(|task| self.on_task(task));
        }
        self.tasks.detach_all();
        let stuck: Vec<_> = self
            .running
            .drain()
            .flat_map(|(_, call)| self.members[call].clone())
            .collect();
        for record in stuck {
            if let Some(job) = &self.jobs[record] {
                let source = Arc::clone(&job.source);
                self.report(&source, ReportKind::Handler, record, &DeadlineReached);
            }
            self.end(record, Fate::Failed(None));
        }
        self.ready.clear();
        #[cfg(feature = "idempotency")]
        if let Some(guard) = &self.inner.queues.settings().guard {
            let cut = self.jobs.iter().enumerate().filter_map(|(record, job)| {
                let job = job.as_ref()?;
                let is_cut = self.fates.get(record) == Fate::Failed(None);
                is_cut.then(|| guard.abandon(job.delivery.get()))
            });
            let abandoned = futures_util::future::join_all(cut);
            self.limits.bounded(abandoned).await;
        }
    }

    fn report(
        &self,
        source: &Source,
        kind: ReportKind,
        record: usize,
        error: &(dyn std::error::Error + Send + Sync + 'static),
    ) {
        let record = &self.records[record];
        let subject = Subject {
            message_id: &record.message_id,
            receive_count: Some(record.attempt()),
            envelope: None,
            settlement: None,
        };
        source.pipeline.reporter.report(kind, subject, error);
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
