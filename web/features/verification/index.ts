// Whether a program is right: what the verifier finds, what contracts promise, what test cases say.
export { VerificationView } from './VerificationView';
export type { VerifySearch } from './search';
