// The dashboard. `shell.tsx` is what stands around every view, `router.tsx` says which view an address shows.
import '../ui/tokens.css';
import '../ui/base.css';
import '../ui/ui.css';
import './app.css';

import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { QuestionsProvider } from '../features/questions';
import { CallerProvider } from '../lib/caller';
import { ConnectionProvider } from '../lib/connection';
import { Login } from './Login';
import { router } from './router';
import { useSession } from './session';

function App() {
  const { connection, author, denied } = useSession();
  if (denied) return <Login />;
  return (
    <ConnectionProvider connection={connection}>
      <CallerProvider author={author}>
        <QuestionsProvider>
          <RouterProvider router={router} />
        </QuestionsProvider>
      </CallerProvider>
    </ConnectionProvider>
  );
}

const root = document.getElementById('app');
if (!root) throw new Error('the page has a place for the dashboard');

createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
