import type { CallData, FunctionData, ModuleData } from './model';

/** What a program of a test has: modules by ref, functions by their module, calls as `caller callee`. */
export interface Written {
  modules: Record<string, string>;
  functions: Record<string, string>;
  calls?: readonly string[];
  findings?: Record<string, number>;
  incomplete?: readonly string[];
  sizes?: Record<string, number>;
}

/** A program as the server would tell it. */
export function program(written: Written): [ModuleData[], FunctionData[], CallData[]] {
  const { modules, functions, calls = [], findings = {}, incomplete = [], sizes = {} } = written;
  const missing = new Set(incomplete);
  return [
    Object.entries(modules).map(([ref, path]) => ({ ref, path })),
    Object.entries(functions).map(([ref, module]) => ({
      ref,
      name: ref,
      path: `${modules[module]}::${ref}`,
      complete: !missing.has(ref),
      module: { ref: module },
      nodes: { totalCount: sizes[ref] ?? 1 },
      diagnostics: { totalCount: findings[ref] ?? 0 },
      import: null,
    })),
    calls.map((call) => {
      const [caller = '', callee = ''] = call.split(' ');
      return { caller: { ref: caller }, callee: { ref: callee } };
    }),
  ];
}
