// GraphiQL's own collection has the editor's styles a second time, and fonts.
import '@graphiql/react/style.css';
import '@graphiql/plugin-history/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import 'graphiql/graphiql.css';
import './page.css';
import './monaco';

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { Explore } from './Explore';

const root = document.getElementById('explore');
if (!root) throw new Error('the page has a place for GraphiQL');

createRoot(root).render(
  <StrictMode>
    <Explore />
  </StrictMode>,
);
