//! Tags of queues.

use std::collections::HashMap;

use aws_sdk_sqs::Client;

use crate::support::*;

async fn tag(client: &Client, url: &str, key: &str, value: &str) -> Result<(), String> {
    let tag = client.tag_queue().queue_url(url).tags(key, value).send();
    tag.await.map(drop).map_err(|it| code(Err::<(), _>(it)))
}

async fn tags_of(client: &Client, url: &str) -> HashMap<String, String> {
    let list = client.list_queue_tags().queue_url(url).send();
    list.await.unwrap().tags.unwrap()
}

#[tokio::test(start_paused = true)]
async fn tags_are_added_replaced_and_removed() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    tag(&client, &url, "team", "a").await.unwrap();
    tag(&client, &url, "team", "b").await.unwrap();
    tag(&client, &url, "Team", "").await.unwrap();
    tag(&client, &url, "cost", "c").await.unwrap();
    let untag = client.untag_queue().queue_url(&url);
    let untag = untag.tag_keys("cost").tag_keys("nothing");
    untag.send().await.unwrap();
    let expected = [("team", "b"), ("Team", "")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    assert_eq!(tags_of(&client, &url).await, HashMap::from(expected));
}

#[tokio::test(start_paused = true)]
async fn bad_tags_are_refused_and_none_of_their_request_is_taken() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let (long_key, long_value) = ("k".repeat(129), "v".repeat(257));
    for (key, value) in [
        ("", "v"),
        ("aws:x", "v"),
        ("AWS:x", "v"),
        ("Aws:x", "v"),
        ("k", "aws:v"),
        ("k#", "v"),
        ("k", "v\n"),
        (&long_key, "v"),
        ("k", &long_value),
    ] {
        let refused = Err("InvalidParameterValue".to_owned());
        assert_eq!(
            tag(&client, &url, key, value).await,
            refused,
            "{key} {value}"
        );
        let create = client.create_queue().queue_name("other");
        let create = create.tags("good", "v").tags(key, value).send().await;
        assert_eq!(code(create), "InvalidParameterValue", "{key} {value}");
    }
    let both = client.tag_queue().queue_url(&url);
    let both = both.tags("good", "v").tags("AWS:x", "v").send().await;
    assert_eq!(code(both), "InvalidParameterValue");
    assert!(tags_of(&client, &url).await.is_empty());
    let untag = client.untag_queue().queue_url(&url).tag_keys("aws:x");
    assert_eq!(code(untag.send().await), "InvalidParameterValue");
    let (key, value) = ("ü".repeat(128), "v".repeat(256));
    tag(&client, &url, &key, &value).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_queue_has_at_most_50_tags() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    for n in 0..50 {
        tag(&client, &url, &format!("k{n}"), "v").await.unwrap();
    }
    assert!(tag(&client, &url, "k50", "v").await.is_err());
    tag(&client, &url, "k49", "w").await.unwrap();
    assert_eq!(tags_of(&client, &url).await["k49"], "w");
}

#[tokio::test(start_paused = true)]
async fn requests_that_name_no_tag_are_refused() {
    let (local, client) = sqs();
    let url = local.create_queue("q");
    let nothing = client
        .tag_queue()
        .queue_url(&url)
        .set_tags(Some(HashMap::new()));
    assert_eq!(code(nothing.send().await), "MissingParameter");
    let nobody = client
        .untag_queue()
        .queue_url(&url)
        .set_tag_keys(Some(vec![]));
    assert_eq!(code(nobody.send().await), "MissingParameter");
}
