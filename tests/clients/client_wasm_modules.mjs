// Modules from the registry of Node: what they do they do as programs, in both tiers, and as modules again, with their
// own JavaScript around them.
import { hashes, xxhash } from './wasm_hashes.mjs';
import { large } from './wasm_large.mjs';
import { lua, simulated } from './wasm_lua.mjs';
import { lz4 } from './wasm_lz4.mjs';
import { connect, milliseconds } from './wasm_programs.mjs';

const began = performance.now();
const server = connect(process.argv[2]);
await hashes(server);
await xxhash(server);
await lz4(server);
await lua(server);
await large(server);
await simulated(server);
console.log(`all of it took ${milliseconds(performance.now() - began)}`);
