//! The pointers that stand in a body's place: recognised, read and written (SPEC §4.3, §4.10).
//! Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::policy::{digest_of_key, is_digest};
use super::retrieval::PayloadError;
use super::store::Location;

/// The shape of a pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PointerFormat {
    /// A JSON object with `contentS3Location`, beside which stand the length and the SHA-256
    /// digest of the content (`contentLength`, `contentSha256`).
    #[default]
    ContentLocation,
    /// The array of the extended clients of AWS, with the attribute `ExtendedPayloadSize`, which
    /// takes one of the places for headers. It has no room for a digest: the key ends in it.
    ExtendedClient,
}

/// The attribute that the extended clients of AWS put beside their pointers, today and formerly:
/// the length of the content in bytes.
pub const EXTENDED_SIZE_ATTRIBUTES: [&str; 2] = ["ExtendedPayloadSize", "SQSLargePayloadSize"];

/// The class names that those pointers begin with: the first is written, both are read.
const EXTENDED_CLASSES: [&str; 2] = [
    "software.amazon.payloadoffloading.PayloadS3Pointer",
    "com.amazon.sqs.javamessaging.MessageS3Pointer",
];

/// Points to where the body of a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pointer {
    /// Where it is.
    pub location: Location,
    /// Its length in bytes, if the pointer says.
    pub length: Option<u64>,
    /// Its SHA-256 in lower-case hexadecimal, if the pointer says.
    pub sha256: Option<String>,
    /// The pointer's own shape.
    pub format: PointerFormat,
}

#[derive(Deserialize)]
struct Stub<'a> {
    #[serde(borrow, default, rename = "contentS3Location")]
    location: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "contentS3Path")]
    path: Option<&'a RawValue>,
    #[serde(default, rename = "contentLength")]
    length: Option<Value>,
    #[serde(default, rename = "contentSha256")]
    sha256: Option<Value>,
}

#[derive(Deserialize)]
struct StubLocation {
    #[serde(rename = "bucketName")]
    bucket: String,
    #[serde(default)]
    region: Option<String>,
    path: String,
}

#[derive(Deserialize, Serialize)]
struct ExtendedLocation {
    #[serde(rename = "s3BucketName")]
    bucket: String,
    #[serde(rename = "s3Key")]
    key: String,
}

impl Pointer {
    /// Recognises a pointer of either shape. `default_bucket` is the one meant by a stub that is a
    /// plain key; `extended_size` is the value of the attribute of
    /// [`EXTENDED_SIZE_ATTRIBUTES`], if there is one.
    ///
    /// ```
    /// use babelqueue::payload_store::Pointer;
    ///
    /// let body = r#"{"contentS3Location":{"bucketName":"b","region":"eu-west-1","path":"k"}}"#;
    /// let pointer = Pointer::parse(body, "b", None)?.expect("a pointer");
    /// assert_eq!(pointer.location.key, "k");
    /// assert_eq!(Pointer::parse(r#"{"job":"urn:x"}"#, "b", None)?, None);
    /// # Ok::<(), babelqueue::payload_store::PayloadError>(())
    /// ```
    ///
    /// # Errors
    /// [`PayloadError::Malformed`] for what means to be a pointer and is none. What is no pointer
    /// at all is `None`.
    pub fn parse(
        body: &str,
        default_bucket: &str,
        extended_size: Option<&str>,
    ) -> Result<Option<Self>, PayloadError> {
        let text = body.trim_start_matches([' ', '\t', '\r', '\n']);
        if text.starts_with('{') {
            parse_stub(text, default_bucket)
        } else if text.starts_with('[') {
            parse_extended(text, extended_size)
        } else {
            Ok(None)
        }
    }

    /// The pointer as a body.
    pub fn to_body(&self) -> String {
        let Location {
            bucket,
            region,
            key,
        } = &self.location;
        let json = match self.format {
            PointerFormat::ExtendedClient => {
                serde_json::json!([EXTENDED_CLASSES[0], { "s3BucketName": bucket, "s3Key": key }])
            }
            PointerFormat::ContentLocation => {
                let mut at = serde_json::json!({ "bucketName": bucket, "path": key });
                if let Some(region) = region {
                    at["region"] = region.as_str().into();
                }
                let mut stub = serde_json::json!({ "contentS3Location": at });
                if let Some(length) = self.length {
                    stub["contentLength"] = length.into();
                }
                if let Some(sha256) = &self.sha256 {
                    stub["contentSha256"] = sha256.as_str().into();
                }
                stub
            }
        };
        json.to_string()
    }
}

fn parse_stub(text: &str, default_bucket: &str) -> Result<Option<Pointer>, PayloadError> {
    let Ok(stub) = serde_json::from_str::<Stub<'_>>(text) else {
        return Ok(None);
    };
    let Some(given) = [stub.location, stub.path]
        .into_iter()
        .flatten()
        .find(|given| !is_blank(given.get()))
    else {
        return Ok(None);
    };
    let malformed = |reason: String| PayloadError::Malformed { reason };
    let location = if given.get().starts_with('"') {
        let key =
            serde_json::from_str(given.get()).map_err(|error| malformed(error.to_string()))?;
        Location {
            bucket: default_bucket.to_owned(),
            region: None,
            key,
        }
    } else {
        let at: StubLocation = serde_json::from_str(given.get())
            .map_err(|error| malformed(format!("its `contentS3Location`: {error}")))?;
        Location {
            bucket: at.bucket,
            region: at.region.filter(|region| !region.is_empty()),
            key: at.path,
        }
    };
    let length = match stub.length {
        None | Some(Value::Null) => None,
        Some(given) => Some(given.as_u64().ok_or_else(|| {
            malformed(format!(
                "its `contentLength` is {given}, no number of bytes"
            ))
        })?),
    };
    let sha256 = match stub.sha256 {
        None | Some(Value::Null) => None,
        Some(Value::String(digest)) if is_digest(&digest) => Some(digest),
        Some(_) => {
            let reason = "its `contentSha256` is not 64 lower-case hexadecimal digits";
            return Err(malformed(reason.to_owned()));
        }
    };
    Ok(Some(Pointer {
        location,
        length,
        sha256,
        format: PointerFormat::ContentLocation,
    }))
}

/// Whether a stub is there in name only.
fn is_blank(json: &str) -> bool {
    matches!(json, "null" | "false" | r#""""#)
        || json
            .strip_prefix('{')
            .is_some_and(|rest| rest.trim_start().starts_with('}'))
}

fn parse_extended(text: &str, size: Option<&str>) -> Result<Option<Pointer>, PayloadError> {
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else {
        return Ok(None);
    };
    let class = items.first().map(|first| first.get().trim_matches('"'));
    if !class.is_some_and(|class| EXTENDED_CLASSES.contains(&class)) {
        return Ok(None);
    }
    let malformed = |reason: String| PayloadError::Malformed { reason };
    let [_, at] = *items else {
        return Err(malformed(format!("it has {} items, not 2", items.len())));
    };
    let at: ExtendedLocation =
        serde_json::from_str(at.get()).map_err(|error| malformed(error.to_string()))?;
    Ok(Some(Pointer {
        sha256: digest_of_key(&at.key).map(str::to_owned),
        location: Location {
            bucket: at.bucket,
            region: None,
            key: at.key,
        },
        // A size that is no number says nothing.
        length: size.and_then(|size| size.trim().parse().ok()),
        format: PointerFormat::ExtendedClient,
    }))
}
