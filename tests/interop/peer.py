"""The other side of the interop tests: the PyPI `babelqueue` SDK over SQS.

    peer.py publish ENDPOINT         messages on stdin, one JSON object a line; ids on stdout
    peer.py consume ENDPOINT QUEUE N what N deliveries looked like, one JSON object a line
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


if __name__ == "__main__":
    mode, *arguments = sys.argv[1:]
    {"publish": publish, "consume": consume}[mode](*arguments)
