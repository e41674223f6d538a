//! What SQS refuses of the attributes of a queue.

use std::collections::HashMap;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::QueueAttributeName as Name;
use babelqueue::local::LocalSqs;

use crate::support::*;

/// Creates a queue by the SDK; the error's code when it is refused.
async fn create(client: &Client, name: &str, attributes: &[(&str, &str)]) -> Result<(), String> {
    let attributes: HashMap<_, _> = attributes
        .iter()
        .map(|&(name, value)| (Name::from(name), value.to_owned()))
        .collect();
    let create = client.create_queue().queue_name(name);
    let created = create.set_attributes(Some(attributes)).send().await;
    created.map(drop).map_err(|it| code(Err::<(), _>(it)))
}

async fn set(client: &Client, url: &str, attributes: &[(&str, &str)]) -> Result<(), String> {
    let set = client.set_queue_attributes().queue_url(url);
    let set = attributes.iter().fold(set, |set, &(name, value)| {
        set.attributes(Name::from(name), value)
    });
    let set = set.send().await;
    set.map(drop).map_err(|it| code(Err::<(), _>(it)))
}

fn refused(code: &str) -> Result<(), String> {
    Err(code.to_owned())
}

#[tokio::test(start_paused = true)]
async fn numbers_are_written_in_digits_alone() {
    let (local, client) = sqs();
    let url = local.create_queue("there");
    for (name, good) in [
        ("VisibilityTimeout", "5"),
        ("MaximumMessageSize", "2048"),
        ("MessageRetentionPeriod", "3600"),
        ("DelaySeconds", "5"),
        ("ReceiveMessageWaitTimeSeconds", "5"),
        ("KmsDataKeyReusePeriodSeconds", "600"),
    ] {
        let odd = [
            format!("+{good}"),
            format!(" {good}"),
            format!("{good} "),
            format!("0{good}"),
            format!("{good}.0"),
            format!("{good}e0"),
            format!("-{good}"),
            format!("{good}s"),
            String::new(),
        ];
        for odd in &odd {
            let odd = [(name, odd.as_str())];
            let bad = refused("InvalidAttributeValue");
            assert_eq!(create(&client, "new", &odd).await, bad, "{odd:?}");
            assert_eq!(set(&client, &url, &odd).await, bad, "{odd:?}");
        }
        assert_eq!(set(&client, &url, &[(name, good)]).await, Ok(()), "{name}");
    }
    let none = set(&client, &url, &[]).await;
    assert_eq!(none, refused("MissingParameter"));
}

#[tokio::test(start_paused = true)]
async fn a_queue_has_one_kind_of_encryption() {
    let (local, client) = sqs();
    let both = [
        ("KmsMasterKeyId", "alias/aws/sqs"),
        ("SqsManagedSseEnabled", "true"),
    ];
    let bad = refused("InvalidAttributeName");
    assert_eq!(create(&client, "q", &both).await, bad);
    let url = local.create_queue("q");
    assert_eq!(set(&client, &url, &both).await, bad);
    let shown = || async {
        let get = client.get_queue_attributes().queue_url(&url);
        let all = get.attribute_names(Name::All).send().await.unwrap();
        let all = all.attributes.unwrap();
        [
            Name::SqsManagedSseEnabled,
            Name::KmsMasterKeyId,
            Name::KmsDataKeyReusePeriodSeconds,
        ]
        .map(|name| all.get(&name).cloned().unwrap_or_default())
    };
    assert_eq!(shown().await, ["true", "", ""]);
    // The kind that is asked for takes the place of the other.
    set(&client, &url, &both[..1]).await.unwrap();
    assert_eq!(shown().await, ["false", "alias/aws/sqs", "300"]);
    set(&client, &url, &both[1..]).await.unwrap();
    assert_eq!(shown().await, ["true", "", ""]);
    let neither = [("KmsMasterKeyId", ""), ("SqsManagedSseEnabled", "false")];
    set(&client, &url, &neither).await.unwrap();
    assert_eq!(shown().await, ["false", "", ""]);
}

/// Every attribute that can be set, with the value a queue was created with and another one.
fn every_attribute(local: &LocalSqs) -> Vec<(&'static str, String, String)> {
    let text = |name, one: &str, other: &str| (name, one.to_owned(), other.to_owned());
    let policy = |count| redrive(local, "dlq.fifo", count);
    vec![
        text("VisibilityTimeout", "31", "32"),
        text("MaximumMessageSize", "2048", "4096"),
        text("MessageRetentionPeriod", "3600", "3601"),
        text("DelaySeconds", "1", "0"),
        text("ReceiveMessageWaitTimeSeconds", "1", "0"),
        text("Policy", r#"{"Version":"2012-10-17"}"#, ""),
        text("KmsMasterKeyId", "alias/one", "alias/two"),
        text("KmsDataKeyReusePeriodSeconds", "600", "300"),
        text("SqsManagedSseEnabled", "false", "true"),
        text("ContentBasedDeduplication", "true", "false"),
        text("DeduplicationScope", "messageGroup", "queue"),
        text("FifoThroughputLimit", "perQueue", "perMessageGroupId"),
        ("RedrivePolicy", policy(3), policy(4)),
        text(
            "RedriveAllowPolicy",
            r#"{"redrivePermission":"denyAll"}"#,
            r#"{"redrivePermission":"allowAll"}"#,
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_queue_is_found_again_with_the_same_value_of_every_attribute_only() {
    let (local, client) = sqs();
    local.create_queue("dlq.fifo");
    let all = every_attribute(&local);
    let mut first: Vec<_> = all
        .iter()
        .map(|(name, value, _)| (*name, value.as_str()))
        .collect();
    first.push(("FifoQueue", "true"));
    create(&client, "q.fifo", &first).await.unwrap();
    create(&client, "q.fifo", &first).await.unwrap();
    create(&client, "q.fifo", &[("FifoQueue", "true")])
        .await
        .unwrap();
    for (name, one, other) in &all {
        let with = |value| [("FifoQueue", "true"), (*name, value)];
        assert_eq!(
            create(&client, "q.fifo", &with(one)).await,
            Ok(()),
            "{name}"
        );
        assert_eq!(
            create(&client, "q.fifo", &with(other)).await,
            refused("QueueAlreadyExists"),
            "{name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_difference_in_what_is_not_shown_is_a_difference() {
    let (_, client) = sqs();
    // Without a key the period is not shown, and is kept all the same.
    create(&client, "q", &[("KmsDataKeyReusePeriodSeconds", "600")])
        .await
        .unwrap();
    let other = [("KmsDataKeyReusePeriodSeconds", "601")];
    assert_eq!(
        create(&client, "q", &other).await,
        refused("QueueAlreadyExists")
    );
}

#[tokio::test(start_paused = true)]
async fn a_fifo_queue_stays_one() {
    let (local, client) = sqs();
    let url = local.create_queue("q.fifo");
    set(&client, &url, &[("FifoQueue", "true")]).await.unwrap();
    let other = set(&client, &url, &[("FifoQueue", "false")]).await;
    assert_eq!(other, refused("InvalidAttributeValue"));
}

#[tokio::test(start_paused = true)]
async fn redrive_policies_have_two_fields_of_their_types() {
    let (local, client) = sqs();
    local.create_queue("dlq");
    let url = local.create_queue("q");
    let arn = local.queue_arn("dlq");
    let policy =
        |count: &str| format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":{count}}}"#);
    for count in ["1", "1000", "\"5\""] {
        let good = policy(count);
        set(&client, &url, &[("RedrivePolicy", &good)])
            .await
            .unwrap();
    }
    let mut bad: Vec<_> = [
        "0", "1001", "-1", "1.0", "1e1", "true", "null", "[3]", "\"\"", "\"+5\"", "\" 5\"",
        "\"05\"", "\"5.0\"", "\"1001\"",
    ]
    .map(policy)
    .into();
    bad.extend([
        format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":3,"colour":"red"}}"#),
        format!(r#"{{"deadLetterTargetArn":["{arn}"],"maxReceiveCount":3}}"#),
        r#"{"deadLetterTargetArn":"dlq","maxReceiveCount":3}"#.to_owned(),
        r#"{"deadLetterTargetArn":null,"maxReceiveCount":3}"#.to_owned(),
        format!(r#"{{"deadLetterTargetArn":"{arn}"}}"#),
        "{}".to_owned(),
        "[]".to_owned(),
        format!(r#"["{arn}",3]"#),
        "null".to_owned(),
        "text".to_owned(),
    ]);
    for bad in &bad {
        let bad = [("RedrivePolicy", bad.as_str())];
        let code = refused("InvalidParameterValue");
        assert_eq!(set(&client, &url, &bad).await, code, "{bad:?}");
        assert_eq!(create(&client, "new", &bad).await, code, "{bad:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn redrive_allow_policies_name_at_most_ten_queues_and_only_by_queue() {
    let (local, client) = sqs();
    let url = local.create_queue("dlq");
    let arns = |count: usize| {
        let arns: Vec<_> = (0..count)
            .map(|n| format!("\"{}\"", local.queue_arn(&format!("q{n}"))))
            .collect();
        format!("[{}]", arns.join(","))
    };
    let policy = |permission: &str, arns: &str| {
        format!(r#"{{"redrivePermission":"{permission}","sourceQueueArns":{arns}}}"#)
    };
    let alone = |permission: &str| format!(r#"{{"redrivePermission":"{permission}"}}"#);
    // The queues need not be there yet.
    for good in [
        alone("allowAll"),
        alone("denyAll"),
        policy("byQueue", &arns(1)),
        policy("byQueue", &arns(10)),
        String::new(),
    ] {
        let good = [("RedriveAllowPolicy", good.as_str())];
        assert_eq!(set(&client, &url, &good).await, Ok(()), "{good:?}");
    }
    let arn = local.queue_arn("q");
    for bad in [
        alone("byQueue"),
        alone("some"),
        policy("byQueue", "[]"),
        policy("byQueue", &arns(11)),
        policy("byQueue", &format!("\"{arn}\"")),
        policy("byQueue", "[\"q\"]"),
        policy("byQueue", "[7]"),
        policy("byQueue", "[null]"),
        policy("byQueue", "[\"arn:aws:sns:us-east-1:000000000000:q\"]"),
        policy("byQueue", "null"),
        policy("allowAll", &arns(1)),
        policy("denyAll", "[]"),
        format!(r#"{{"sourceQueueArns":["{arn}"]}}"#),
        r#"{"redrivePermission":"allowAll","colour":"red"}"#.to_owned(),
        r#"{"redrivePermission":["allowAll"]}"#.to_owned(),
        "{}".to_owned(),
        r#"["allowAll"]"#.to_owned(),
        "text".to_owned(),
    ] {
        let bad = [("RedriveAllowPolicy", bad.as_str())];
        let code = refused("InvalidParameterValue");
        assert_eq!(set(&client, &url, &bad).await, code, "{bad:?}");
        assert_eq!(create(&client, "new", &bad).await, code, "{bad:?}");
    }
}
