// The small components of every view. Nothing here fetches or knows the schema.
export { Actor } from './Actor';
export { Ago } from './Ago';
export { Badge, type Tone } from './Badge';
export { Command } from './Command';
export { CopyButton } from './CopyButton';
export { Counts } from './Counts';
export { Empty } from './Empty';
export { Long } from './Long';
export { Message } from './Message';
export { Json } from './Json';
export { Notice } from './Notice';
export { ProblemPanel, type Problem } from './Problem';
export { RestItem } from './RestItem';
export { Skeleton, SkeletonRows } from './Skeleton';
export { Tabs, type Tab } from './Tabs';
export { ago, counted, lasting } from './time';
export { useMedia } from './useMedia';
export { useMoment } from './useMoment';
