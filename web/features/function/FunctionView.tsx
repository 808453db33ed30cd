export function FunctionView() {
  return null;
}
