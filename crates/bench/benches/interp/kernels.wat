(module
  (memory 16 16)
  (func $fib (export "fib") (param i64) (result i64)
    (if (result i64) (i64.lt_s (local.get 0) (i64.const 2))
      (then (local.get 0))
      (else (i64.add (call $fib (i64.sub (local.get 0) (i64.const 1)))
                     (call $fib (i64.sub (local.get 0) (i64.const 2)))))))
  (func (export "sum") (param $n i64) (result i64) (local $i i64) (local $acc i64)
    (block $out
      (loop $l
        (br_if $out (i64.ge_u (local.get $i) (local.get $n)))
        (local.set $acc (i64.add (local.get $acc) (local.get $i)))
        (local.set $i (i64.add (local.get $i) (i64.const 1)))
        (br $l)))
    (local.get $acc))
  (func (export "collatz") (param $most i64) (result i64)
    (local $start i64) (local $total i64) (local $n i64) (local $count i64)
    (local.set $start (i64.const 1))
    (block $out
      (loop $outer
        (br_if $out (i64.ge_u (local.get $start) (local.get $most)))
        (local.set $n (local.get $start))
        (local.set $count (i64.const 0))
        (block $done
          (loop $inner
            (br_if $done (i64.eq (local.get $n) (i64.const 1)))
            (if (i64.eq (i64.and (local.get $n) (i64.const 1)) (i64.const 1))
              (then (local.set $n (i64.add (i64.mul (local.get $n) (i64.const 3)) (i64.const 1))))
              (else (local.set $n (i64.shr_u (local.get $n) (i64.const 1)))))
            (local.set $count (i64.add (local.get $count) (i64.const 1)))
            (br $inner)))
        (local.set $total (i64.add (local.get $total) (local.get $count)))
        (local.set $start (i64.add (local.get $start) (i64.const 1)))
        (br $outer)))
    (local.get $total))
  (func (export "sieve") (param $most i64) (result i64)
    (local $limit i32) (local $i i32) (local $j i32) (local $count i64)
    (local.set $limit (i32.wrap_i64 (local.get $most)))
    (block $out
      (loop $l
        (br_if $out (i32.ge_u (local.get $i) (local.get $limit)))
        (i32.store8 (local.get $i) (i32.const 1))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $l)))
    (local.set $i (i32.const 2))
    (block $out
      (loop $l
        (br_if $out (i32.ge_u (local.get $i) (local.get $limit)))
        (if (i32.load8_u (local.get $i))
          (then
            (local.set $j (i32.add (local.get $i) (local.get $i)))
            (block $marked
              (loop $mark
                (br_if $marked (i32.ge_u (local.get $j) (local.get $limit)))
                (i32.store8 (local.get $j) (i32.const 0))
                (local.set $j (i32.add (local.get $j) (local.get $i)))
                (br $mark)))
            (local.set $count (i64.add (local.get $count) (i64.const 1)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $l)))
    (local.get $count))
  (func (export "mandel") (param $size i64) (result i64)
    (local $scale f64) (local $x i64) (local $y i64) (local $k i64) (local $total i64)
    (local $ci f64) (local $cr f64) (local $zr f64) (local $zi f64) (local $rr f64) (local $ii f64)
    (local.set $scale (f64.convert_i64_s (local.get $size)))
    (block $out
      (loop $rows
        (br_if $out (i64.ge_s (local.get $y) (local.get $size)))
        (local.set $ci (f64.sub (f64.div (f64.mul (f64.convert_i64_s (local.get $y)) (f64.const 2)) (local.get $scale)) (f64.const 1)))
        (local.set $x (i64.const 0))
        (block $end
          (loop $columns
            (br_if $end (i64.ge_s (local.get $x) (local.get $size)))
            (local.set $cr (f64.sub (f64.div (f64.mul (f64.convert_i64_s (local.get $x)) (f64.const 2)) (local.get $scale)) (f64.const 1.5)))
            (local.set $zr (f64.const 0))
            (local.set $zi (f64.const 0))
            (local.set $k (i64.const 0))
            (block $done
              (loop $point
                (br_if $done (i64.ge_s (local.get $k) (i64.const 50)))
                (local.set $rr (f64.mul (local.get $zr) (local.get $zr)))
                (local.set $ii (f64.mul (local.get $zi) (local.get $zi)))
                (br_if $done (f64.gt (f64.add (local.get $rr) (local.get $ii)) (f64.const 4)))
                (local.set $zi (f64.add (f64.mul (f64.mul (local.get $zr) (local.get $zi)) (f64.const 2)) (local.get $ci)))
                (local.set $zr (f64.add (f64.sub (local.get $rr) (local.get $ii)) (local.get $cr)))
                (local.set $k (i64.add (local.get $k) (i64.const 1)))
                (br $point)))
            (local.set $total (i64.add (local.get $total) (local.get $k)))
            (local.set $x (i64.add (local.get $x) (i64.const 1)))
            (br $columns)))
        (local.set $y (i64.add (local.get $y) (i64.const 1)))
        (br $rows)))
    (local.get $total))
  (func (export "body") (param $steps i64) (result i64)
    (local $i i64) (local $x f64) (local $y f64) (local $vx f64) (local $vy f64) (local $d2 f64) (local $d3 f64)
    (local.set $x (f64.const 1))
    (local.set $vy (f64.const 1))
    (block $out
      (loop $l
        (br_if $out (i64.ge_s (local.get $i) (local.get $steps)))
        (local.set $d2 (f64.add (f64.mul (local.get $x) (local.get $x)) (f64.mul (local.get $y) (local.get $y))))
        (local.set $d3 (f64.mul (local.get $d2) (f64.sqrt (local.get $d2))))
        (local.set $vx (f64.add (local.get $vx) (f64.mul (f64.div (f64.neg (local.get $x)) (local.get $d3)) (f64.const 0.001))))
        (local.set $vy (f64.add (local.get $vy) (f64.mul (f64.div (f64.neg (local.get $y)) (local.get $d3)) (f64.const 0.001))))
        (local.set $x (f64.add (local.get $x) (f64.mul (local.get $vx) (f64.const 0.001))))
        (local.set $y (f64.add (local.get $y) (f64.mul (local.get $vy) (f64.const 0.001))))
        (local.set $i (i64.add (local.get $i) (i64.const 1)))
        (br $l)))
    (i64.trunc_sat_f64_s (f64.mul (local.get $x) (f64.const 1000000)))))
