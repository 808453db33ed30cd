import { CombinedError } from '@urql/core';
import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';

import { problemOf, UnansweredChange } from './problems';

test('an error of the server is told by its code, in its words', () => {
  const error = new GraphQLError('no function `f9`', { extensions: { code: 'NOT_FOUND' } });
  const { code, message, action } = problemOf(new CombinedError({ graphQLErrors: [error] }));
  expect([code, message]).toEqual(['NOT_FOUND', 'no function `f9`']);
  expect(action).toMatch(/renamed or removed/);
});

test('what a field refuses is not for want of another page', () => {
  const told = (path?: string[]) => {
    const error = new GraphQLError('r4 is no revision', { path, extensions: { code: 'BAD_REQUEST' } });
    return problemOf(new CombinedError({ graphQLErrors: [error] })).action;
  };
  expect([told(), told(['revert'])]).toEqual([
    'The server did not understand this page. Reload it: the server may be of another version.',
    'The server does not do this, and says why.',
  ]);
});

test('what does not reach the server is offline', () => {
  expect(problemOf(new CombinedError({ networkError: new Error('Failed to fetch') })).code).toBe('OFFLINE');
  expect(problemOf(new Event('close')).code).toBe('OFFLINE');
  // As the socket tells that it was given up.
  const terminated = Object.assign(new Error('4499: Terminated'), { code: 4499, reason: 'Terminated' });
  expect(problemOf(terminated)).toMatchObject({ code: 'OFFLINE', message: '4499: Terminated' });
  expect(problemOf({ code: 1000, reason: 'gone' })).toMatchObject({
    code: 'OFFLINE',
    message: 'the connection was closed',
  });
});

test('what is tried again by itself says so, and a change without an answer says that it is not', () => {
  const networkError = new Error('Failed to fetch');
  expect(problemOf(new CombinedError({ networkError })).action).toMatch(/tried again by itself/);
  const change = problemOf(new UnansweredChange({ networkError }));
  expect(change).toMatchObject({ code: 'OFFLINE', message: 'Failed to fetch' });
  expect(change.action).toMatch(/not sent again by itself/);
});

test('what this page does wrong, or misses in an answer, is not the network', () => {
  const error = new Error('the answer has no payload');
  expect(problemOf(error)).toMatchObject({ code: 'UNEXPECTED', message: 'the answer has no payload' });
  for (const nothing of [undefined, null])
    expect(problemOf(nothing)).toMatchObject({ code: 'UNEXPECTED', message: 'the answer lacks what was asked for' });
});

test('errors of a subscription come as a list', () => {
  const errors = [{ message: 'not yours', extensions: { code: 'CURSOR_INVALID' } }];
  expect(problemOf(errors)).toMatchObject({ code: 'CURSOR_INVALID', message: 'not yours' });
});
