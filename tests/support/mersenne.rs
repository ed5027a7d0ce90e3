//! The generator behind the golden runs: MT19937 with normal deviates by the polar method.

/// MT19937 (Matsumoto and Nishimura 1998).
pub struct Mersenne {
    state: [u32; 624],
    next: usize,
    spare: Option<f64>,
}

impl Mersenne {
    pub fn new(seed: u32) -> Self {
        let mut state = [seed; 624];
        for i in 1..624 {
            let previous = state[i - 1] ^ (state[i - 1] >> 30);
            state[i] = 1_812_433_253u32.wrapping_mul(previous).wrapping_add(i as u32);
        }
        Self { state, next: 624, spare: None }
    }

    fn word(&mut self) -> u32 {
        if self.next == 624 {
            for i in 0..624 {
                let mixed = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % 624] & 0x7fff_ffff);
                let twist = if mixed & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[i] = self.state[(i + 397) % 624] ^ (mixed >> 1) ^ twist;
            }
            self.next = 0;
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// Uniform on [0, 1) with 53 bits.
    fn uniform(&mut self) -> f64 {
        let (high, low) = (f64::from(self.word() >> 5), f64::from(self.word() >> 6));
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// A standard normal deviate by Marsaglia's polar method; the second of a pair comes first.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (a, b) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = a * a + b * b;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(factor * a);
                return factor * b;
            }
        }
    }
}
