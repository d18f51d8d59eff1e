import { retryAccessDenied } from '../../../lambda/shared/retry-access-denied';

const named = (name: string) => Object.assign(new Error(name), { name });

it('tries again until access is granted', async () => {
  let tries = 0;
  const act = async () => {
    tries += 1;
    if (tries < 2) throw named('AccessDeniedException');
    return 'done';
  };
  expect(await retryAccessDenied(act)).toBe('done');
});

it('gives up with the refusal when its timeout is over', async () => {
  await expect(retryAccessDenied(() => Promise.reject(named('AccessDeniedException')), 0)).rejects.toThrow(
    'AccessDeniedException',
  );
});

it('passes every other failure on at once', async () => {
  let tries = 0;
  const act = () => {
    tries += 1;
    return Promise.reject(named('DisabledException'));
  };
  await expect(retryAccessDenied(act)).rejects.toThrow('DisabledException');
  expect(tries).toBe(1);
});
