// What happens to an open program: the feed, how the connection stands, and what other views refresh by.
export { EditsView } from './EditsView';
export { LiveProvider, useLive, type Live, type Opening } from './live';
export { LiveBanner, LiveControls } from './LiveBanner';
export { ShownRevision } from './ShownRevision';
