// The editor's language services run in workers. GraphiQL's own set-up for Vite does not survive `vite dev`, so they are
// named here.
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphQLWorker from 'monaco-graphql/esm/graphql.worker.js?worker';

const environment = {
  getWorker(_id: string, label: string): Worker {
    switch (label) {
      case 'json':
        return new JsonWorker();
      case 'graphql':
        return new GraphQLWorker();
      default:
        return new EditorWorker();
    }
  },
};

Object.assign(globalThis, { MonacoEnvironment: environment });
