//! Relay connections: pages of lists, with their nodes, cursors and total.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;

use async_graphql::{Context, Object, SimpleObject, TypeName};

use crate::direct::{Direct, Rows, Selected, Writer, leaf, object};
use crate::error::ApiError;
use crate::schema::cursor::{List, number};
use crate::schema::natural::natural;

/// Where a page stands in its list.
#[derive(Clone, Debug, Default, SimpleObject)]
pub struct PageInfo {
    /// Whether more follows: ask for it with `after: endCursor`.
    pub has_next_page: bool,
    /// Whether something stands before this page.
    pub has_previous_page: bool,
    /// Cursor of the first item; null on an empty page.
    pub start_cursor: Option<String>,
    /// Cursor of the last item; null on an empty page.
    pub end_cursor: Option<String>,
}

/// The most items on one page.
pub const MAX_PAGE: usize = 1_000;

/// Checks how many items a caller asks for at most.
pub fn page_size(first: impl Into<i32>) -> Result<usize, ApiError> {
    let first: usize = natural("first", first.into())?;
    if first > MAX_PAGE {
        return Err(ApiError::limit("pageSize", MAX_PAGE as u64, first as u64));
    }
    Ok(first)
}

/// The first items of a list after a cursor, as a caller asked for them.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// How many at most.
    pub first: usize,
    list: List,
    /// As it was given: what it says is read where the page is made, which is where it is refused.
    after: Option<String>,
}

impl PageRequest {
    /// Checks the arguments of a list field.
    pub fn new(list: List, first: impl Into<i32>, after: Option<String>) -> Result<PageRequest, ApiError> {
        Ok(PageRequest { first: page_size(first)?, list, after })
    }

    /// The place after which the page begins, by what reads places of the list.
    pub fn after<'p, P>(&'p self, read: impl FnOnce(&'p str) -> Option<P>) -> Result<Option<P>, ApiError> {
        let Some(cursor) = &self.after else { return Ok(None) };
        let place = read(self.list.place(cursor)?);
        Ok(Some(place.ok_or_else(|| self.list.invalid(cursor))?))
    }

    /// The place, in a list whose places are numbers.
    pub fn after_number(&self) -> Result<Option<u64>, ApiError> {
        self.after(number)
    }

    /// The place, in a list whose places are names.
    pub fn after_name(&self) -> Result<Option<&str>, ApiError> {
        self.after(Some)
    }

    /// The first number that can stand on the page, in a list whose places are ascending numbers.
    pub fn start(&self) -> Result<u64, ApiError> {
        Ok(self.after_number()?.map_or(0, |number| number + 1))
    }

    /// Checks a place in a list that begins with its newest item: behind that one no cursor was given. Where there is no item any
    /// more, one may have been.
    pub fn among(&self, place: u64, newest: Option<u64>) -> Result<(), ApiError> {
        match newest {
            Some(newest) if place > newest => Err(self.invalid()),
            _ => Ok(()),
        }
    }

    /// The error for a cursor whose place is none of the list.
    pub fn invalid(&self) -> ApiError {
        self.list.invalid(self.after.as_deref().unwrap_or_default())
    }

    fn edge<T>(&self, place: impl Display, node: T) -> Edge<T> {
        Edge { cursor: self.list.cursor(place), node }
    }
}

/// An item with its cursor.
#[derive(Clone, Debug)]
pub struct Edge<T> {
    /// Where to go on after this item.
    pub cursor: String,
    /// The item.
    pub node: T,
}

/// A page of a list.
#[derive(Clone)]
pub struct Connection<T> {
    /// The items with their cursors.
    pub edges: Vec<Edge<T>>,
    /// Whether more follows.
    pub more: bool,
    /// Whether something stands before.
    pub earlier: bool,
    total: Total,
}

/// Whether somebody asks for the length of a whole list, where counting takes long or can fail: the field that the list
/// is the answer of can be null, `totalCount` cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// `totalCount` is selected.
    Yes,
    /// It is not; nobody sees the number.
    No,
}

impl Counted {
    /// Whether `totalCount` is selected in the list that a field is answered with.
    pub fn of(context: &Context<'_>) -> Counted {
        match context.look_ahead().field("totalCount").exists() {
            true => Counted::Yes,
            false => Counted::No,
        }
    }
}

/// Counts a whole list when somebody asks: some lists are long and filtered.
type Total = Arc<dyn Fn() -> usize + Send + Sync>;

impl<T> Connection<T> {
    /// A page from items with their places that start after the request's cursor; one item more than asked for tells that
    /// more follow.
    pub fn collect<P: Display>(
        page: &PageRequest,
        total: usize,
        items: impl IntoIterator<Item = (P, T)>,
    ) -> Connection<T> {
        Connection::counted_by(page, move || total, items)
    }

    /// The same for a list that must be walked to be counted: that happens when `totalCount` is selected.
    pub fn counted_by<P: Display>(
        page: &PageRequest,
        total: impl Fn() -> usize + Send + Sync + 'static,
        items: impl IntoIterator<Item = (P, T)>,
    ) -> Connection<T> {
        let mut items = items.into_iter();
        let edges = items.by_ref().take(page.first).map(|(place, node)| page.edge(place, node)).collect();
        Connection {
            more: items.next().is_some(),
            edges,
            earlier: page.after.is_some(),
            total: Arc::new(total),
        }
    }

    /// A page whose items, with their places, and total somebody else has found.
    pub fn known<P: Display>(
        page: &PageRequest,
        more: bool,
        total: usize,
        items: impl IntoIterator<Item = (P, T)>,
    ) -> Connection<T> {
        let edges = items.into_iter().map(|(place, node)| page.edge(place, node)).collect();
        Connection { more, edges, earlier: page.after.is_some(), total: Arc::new(move || total) }
    }

    /// A page of a list that is there as a whole, sorted by name; places are names, so that an item that comes or goes moves
    /// no other.
    pub fn sorted(
        page: &PageRequest,
        items: Vec<T>,
        name: impl Fn(&T) -> &str,
    ) -> Result<Connection<T>, ApiError> {
        let after = page.after_name()?;
        let total = items.len();
        let rest = items.into_iter().filter(|item| after.is_none_or(|after| name(item) > after));
        let rest: Vec<_> = rest.map(|item| (name(&item).to_owned(), item)).collect();
        Ok(Connection::collect(page, total, rest))
    }

    /// A page of a list that is there as a whole, in an order of its own; places are names.
    pub fn by_name(
        page: &PageRequest,
        items: Vec<T>,
        name: impl Fn(&T) -> String,
    ) -> Result<Connection<T>, ApiError> {
        let start = match page.after_name()? {
            Some(after) => {
                let last = items.iter().position(|item| name(item) == after);
                last.ok_or_else(|| page.invalid())? + 1
            }
            None => 0,
        };
        let total = items.len();
        let rest = items.into_iter().skip(start).map(|item| (name(&item), item));
        Ok(Connection::collect(page, total, rest))
    }

    /// A page of a list that is there as a whole and does not change; places are positions.
    pub fn slice(page: &PageRequest, items: Vec<T>) -> Result<Connection<T>, ApiError> {
        let (total, start) = (items.len(), usize::try_from(page.start()?).unwrap_or(usize::MAX));
        Ok(Connection::collect(page, total, items.into_iter().enumerate().skip(start)))
    }
}

impl<T> Connection<T> {
    /// The same page with what each item is shown as.
    pub fn shown<U>(self, item: impl Fn(T) -> Result<U, ApiError>) -> Result<Connection<U>, ApiError> {
        let Connection { edges, more, earlier, total } = self;
        let edge = |Edge { cursor, node }: Edge<T>| Ok::<_, ApiError>(Edge { cursor, node: item(node)? });
        let edges = edges.into_iter().map(edge).collect::<Result<_, ApiError>>()?;
        Ok(Connection { edges, more, earlier, total })
    }

    /// The same page with what becomes of each item.
    pub async fn resolved<U, F: Future<Output = Result<U, ApiError>>>(
        self,
        item: impl Fn(T) -> F,
    ) -> Result<Connection<U>, ApiError> {
        let Connection { edges: items, more, earlier, total } = self;
        let mut edges = Vec::with_capacity(items.len());
        for Edge { cursor, node } in items {
            edges.push(Edge { cursor, node: item(node).await? });
        }
        Ok(Connection { edges, more, earlier, total })
    }
}

/// Names the connection types of a list item.
pub trait Listed: Direct + Clone + 'static {
    /// Name of the connection type.
    const CONNECTION: &'static str;
    /// Name of the edge type.
    const EDGE: &'static str;
}

impl<T: Listed> TypeName for Edge<T> {
    fn type_name() -> Cow<'static, str> {
        T::EDGE.into()
    }
}

impl<T: Listed> TypeName for Connection<T> {
    fn type_name() -> Cow<'static, str> {
        T::CONNECTION.into()
    }
}

/// An item with its cursor.
#[Object(name_type)]
impl<T: Listed> Edge<T> {
    /// Where to go on after this item.
    async fn cursor(&self) -> &str {
        &self.cursor
    }

    /// The item.
    async fn node(&self) -> &T {
        &self.node
    }
}

impl<T: Listed> Direct for Edge<T> {
    fn writer(selected: Selected<'_>) -> Option<Writer<Edge<T>>> {
        object(selected, &[T::EDGE], |name, inner| match name {
            "cursor" => leaf(|edge: &Edge<T>, out| out.text(&edge.cursor)),
            "node" => {
                let writer = T::writer(inner)?;
                leaf(move |edge: &Edge<T>, out| writer(&edge.node, out))
            }
            _ => None,
        })
    }
}

/// A page of a list.
#[Object(name_type)]
impl<T: Listed> Connection<T> {
    /// The items with their cursors.
    async fn edges(&self) -> Rows<&Edge<T>> {
        Rows(self.edges.iter().collect())
    }

    /// The items alone.
    async fn nodes(&self) -> Rows<&T> {
        Rows(self.edges.iter().map(|edge| &edge.node).collect())
    }

    /// Where the page stands in its list.
    async fn page_info(&self) -> PageInfo {
        PageInfo {
            has_next_page: self.more,
            has_previous_page: self.earlier,
            start_cursor: self.edges.first().map(|edge| edge.cursor.clone()),
            end_cursor: self.edges.last().map(|edge| edge.cursor.clone()),
        }
    }

    /// The length of the whole list, whatever the page.
    async fn total_count(&self) -> i32 {
        i32::try_from((self.total)()).unwrap_or(i32::MAX)
    }
}
