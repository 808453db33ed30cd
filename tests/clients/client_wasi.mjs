// What programs see of files is what they see under Node's WASI: the error numbers of our own operators, and sequences of
// calls of WASI that are drawn from a seed.
import { connect } from './wasm_programs.mjs';
import { operators } from './wasi_operators.mjs';
import { sequences } from './wasi_sequences.mjs';

const server = connect(process.argv[2]);
await operators(server);
await sequences(server);
