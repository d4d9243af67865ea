/* Copyright 2020 */
package com.example.bank;

import java.util.List;
import static java.util.Objects.requireNonNull;
import java.io.*;

/**
 * An account of a {@link Customer}. It holds money.
 *
 * @author someone
 */
@Entity
public final class Account<T extends Money & Comparable<T>> extends Base implements Closeable {
    /** The least balance. */
    public static final long MIN = 0L, MAX = 10;
    private final List<T> entries = new ArrayList<>();
    protected int count;

    static { System.loadLibrary("x"); }

    public Account(String owner) { this.owner = requireNonNull(owner); }

    /**
     * Puts money in.
     *
     * @param amount how much
     */
    @Override
    @Deprecated(since = "2")
    public synchronized void deposit(
            final T amount,
            String... notes) throws IOException {
        // adds it
        Runnable r = () -> { };
    }

    abstract int size();

    private static class Entry { int id; }

    public enum Kind implements Named {
        /** For everybody. */
        PLAIN("p"), SAVINGS("s") { @Override public String toString() { return ""; } };
        private final String code;
        Kind(String code) { this.code = code; }
    }
}

interface Named { String name(); default int rank() { return 1; } }
record Point(int x, int y) { Point { } static Point zero() { return null; } }
@interface Marker { String value() default ""; }
