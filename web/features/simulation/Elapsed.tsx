import { useEffect, useState } from 'react';

/** How long something goes on, in seconds, from when it is first shown. */
export function Elapsed() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span className="numeric">{seconds} s</span>;
}
