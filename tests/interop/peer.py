"""The other side of the interop tests: the PyPI `babelqueue` SDK over SQS.

    peer.py publish ENDPOINT         messages on stdin, one JSON object a line; ids on stdout
    peer.py consume ENDPOINT QUEUE N what N deliveries looked like, one JSON object a line
    peer.py traced-publish ENDPOINT QUEUE URN  one message by the `otel` extra; its span
    peer.py traced-consume ENDPOINT QUEUE N    N deliveries by the `otel` extra; their spans
"""

import json
import sys

import boto3
from babelqueue.app import BabelQueue
from babelqueue.headers import headers_from_context
from babelqueue.sqs_transport import SqsTransport


def transport(endpoint, queue=""):
    client = boto3.client(
        "sqs",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    return SqsTransport(client=client, fifo=queue.endswith(".fifo"), message_group_id="python")


def publish(endpoint):
    for line in sys.stdin:
        message = json.loads(line)
        queue = message["queue"]
        app = BabelQueue(transport=transport(endpoint, queue), queue=queue)
        message_id = app.publish_with_headers(
            message["urn"], message["data"], message["headers"], trace_id=message["trace_id"]
        )
        print(message_id, flush=True)


def consume(endpoint, queue, count):
    app = BabelQueue(transport=transport(endpoint, queue), queue=queue, max_attempts=10)

    class AnyUrn(dict):
        def get(self, urn, default=None):
            return handle

    def handle(data, meta, envelope):
        seen = {"envelope": envelope, "headers": dict(headers_from_context())}
        print(json.dumps(seen), flush=True)

    app._handlers = AnyUrn()
    app.consume(max_messages=int(count), timeout=10)


class Traced:
    """A tracer whose finished spans are printed, one JSON object a line."""

    def __init__(self):
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        self.spans = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.spans))
        self.tracer = provider.get_tracer("peer")

    def print(self):
        for span in self.spans.get_finished_spans():
            seen = {
                "name": span.name,
                "kind": span.kind.name,
                "trace": format(span.context.trace_id, "032x"),
                "id": format(span.context.span_id, "016x"),
                "parent": span.parent and format(span.parent.span_id, "016x"),
                "attributes": dict(span.attributes),
            }
            print(json.dumps(seen), flush=True)


def traced_publish(endpoint, queue, urn):
    from babelqueue import otel

    traced = Traced()
    app = BabelQueue(transport=transport(endpoint, queue), queue=queue)
    otel.publish(traced.tracer, app, urn, {"order_id": 7})
    traced.print()


def traced_consume(endpoint, queue, count):
    from babelqueue import otel

    traced = Traced()
    app = BabelQueue(transport=transport(endpoint, queue), queue=queue, max_attempts=10)
    handle = otel.wrap_handler(traced.tracer, lambda data, meta: None)

    class AnyUrn(dict):
        def get(self, urn, default=None):
            return handle

    app._handlers = AnyUrn()
    app.consume(max_messages=int(count), timeout=10)
    traced.print()


if __name__ == "__main__":
    mode, *arguments = sys.argv[1:]
    {
        "publish": publish,
        "consume": consume,
        "traced-publish": traced_publish,
        "traced-consume": traced_consume,
    }[mode](*arguments)
