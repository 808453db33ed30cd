// One type: what it consists of, what holds of its values, and who uses it.
export { resolverOf, type Resolve } from './model';
export { TypeLinks, TypeText } from './TypeText';
export { TypeView } from './TypeView';
export type { TypeSearch } from './search';
