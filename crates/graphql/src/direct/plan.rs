//! Plans: what is written of an item, put together from its columns.

use async_graphql::resolver_utils::EnumType;

use super::out::Out;
use super::selected::Selected;
use super::{Direct, Writer};

/// What writes the fields of an object, by name; `None` for those that the library answers.
type Columns<T> = fn(&str, Selected<'_>) -> Option<Writer<T>>;

/// Plans an object. The first of its names is that of its type; the others are those of the interfaces and unions that
/// it belongs to.
pub(crate) fn object<T: 'static>(
    selected: Selected<'_>,
    names: &'static [&'static str],
    columns: Columns<T>,
) -> Option<Writer<T>> {
    let mut planned: Vec<(String, Writer<T>)> = Vec::new();
    for field in selected.fields(names)? {
        let column = match field.name {
            "__typename" => Box::new(|_: &T, out: &mut Out<'_>| out.plain(names.first().unwrap_or(&""))),
            name => columns(name, field.inner)?,
        };
        planned.push((format!("\"{}\":", field.key), column));
    }
    Some(Box::new(move |item, out| {
        out.open(b'{');
        for (at, (key, column)) in planned.iter().enumerate() {
            out.next(at);
            out.json(key);
            column(item, out);
        }
        out.close(b'}');
    }))
}

/// A column without anything inside.
pub(crate) fn leaf<T>(write: impl Fn(&T, &mut Out<'_>) + Send + Sync + 'static) -> Option<Writer<T>> {
    Some(Box::new(write))
}

/// A column with an object.
pub(crate) fn one<T, U: Direct + 'static>(
    selected: Selected<'_>,
    get: impl Fn(&T) -> U + Send + Sync + 'static,
) -> Option<Writer<T>> {
    let writer = U::writer(selected)?;
    Some(Box::new(move |item, out| writer(&get(item), out)))
}

/// A column with an object, or with nothing.
pub(crate) fn maybe<T, U: Direct + 'static>(
    selected: Selected<'_>,
    get: impl Fn(&T) -> Option<U> + Send + Sync + 'static,
) -> Option<Writer<T>> {
    let writer = U::writer(selected)?;
    Some(Box::new(move |item, out| match get(item) {
        Some(found) => writer(&found, out),
        None => out.null(),
    }))
}

/// A column with a list of objects, whose fields count among those of the answer.
pub(crate) fn list<T, U: Direct + 'static>(
    selected: Selected<'_>,
    get: impl Fn(&T) -> Vec<U> + Send + Sync + 'static,
) -> Option<Writer<T>> {
    let write = items::<U>(selected)?;
    Some(Box::new(move |item, out| write(&get(item), out)))
}

/// The same of a list that the item holds.
pub(crate) fn rows<T, U: Direct + 'static>(
    selected: Selected<'_>,
    get: impl Fn(&T) -> &[U] + Send + Sync + 'static,
) -> Option<Writer<T>> {
    let write = items::<U>(selected)?;
    Some(Box::new(move |item, out| write(get(item), out)))
}

/// Plans the items of a list.
fn items<U: Direct + 'static>(
    selected: Selected<'_>,
) -> Option<impl Fn(&[U], &mut Out<'_>) + Send + Sync + use<U>> {
    let (writer, each) = (U::writer(selected)?, selected.width());
    Some(move |items: &[U], out: &mut Out<'_>| {
        out.count(each.saturating_mul(items.len() as u64));
        out.open(b'[');
        for (at, one) in items.iter().enumerate() {
            out.next(at);
            writer(one, out);
        }
        out.close(b']');
    })
}

/// The name of an enum's value.
pub(crate) fn word<E: EnumType>(value: E) -> &'static str {
    E::items().iter().find(|item| item.value == value).map_or("", |item| item.name)
}
