//! What a queue URL says. Hosts are not compared: a server is reached under many
//! names, and a URL of any of them means the same queue.

/// The account and the name of the queue in a queue URL: `http` or `https`, a host, and a path
/// of exactly these two. `None` for what is not such a URL.
pub(crate) fn account_and_name(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    if !["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        return None;
    }
    if !rest
        .bytes()
        .all(|b| b.is_ascii_graphic() && !matches!(b, b'?' | b'#' | b'\\'))
    {
        return None;
    }
    let mut segments = rest.split('/');
    let (host, account, name) = (segments.next()?, segments.next()?, segments.next()?);
    let all = ![host, account, name].contains(&"") && segments.next().is_none();
    all.then_some((account, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_and_names_are_found_under_any_host() {
        for url in [
            "http://sqs.local/000000000000/orders.fifo",
            "https://sqs.eu-west-1.amazonaws.com/000000000000/orders.fifo",
            "HTTPS://127.0.0.1:9324/000000000000/orders.fifo",
            "http://[::1]:9324/000000000000/orders.fifo",
        ] {
            assert_eq!(
                account_and_name(url),
                Some(("000000000000", "orders.fifo")),
                "{url}"
            );
        }
    }

    #[test]
    fn what_is_no_queue_url_says_nothing() {
        for url in [
            "",
            "orders",
            "/000000000000/orders",
            "//host/000000000000/orders",
            "host/000000000000/orders",
            "ftp://host/000000000000/orders",
            "arn:aws:sqs:us-east-1:000000000000:orders",
            "http:/host/000000000000/orders",
            "http:///000000000000/orders",
            "http://host",
            "http://host/orders",
            "http://host//orders",
            "http://host/000000000000/",
            "http://host/000000000000/orders/",
            "http://host/queue/000000000000/orders",
            "http://host/000000000000/orders?x=1",
            "http://host/000000000000/orders#x",
            "http://host/000000000000/or ders",
            " http://host/000000000000/orders",
            "http://host/000000000000/orders\n",
            "http:\\\\host\\000000000000\\orders",
        ] {
            assert_eq!(account_and_name(url), None, "{url}");
        }
    }
}
