// Licensed under MIT.
using System;
using System.Collections.Generic;
using Json = System.Text.Json;

namespace Acme.Work;

/// <summary>
/// A queue of <see cref="Job"/> items. It blocks.
/// </summary>
[Serializable]
public sealed class Queue<T> : IQueue<T>, IDisposable where T : class
{
    public const int Max = 10, Min = 1;
    static string[] Names { get; } = [];
    readonly List<T> _items = new(), _spare;
    public event EventHandler? Changed;

    /// <summary>How many wait.</summary>
    public int Count { get; private set; } = 0;
    public bool Empty => Count == 0;
    public T this[int i] => _items[i];

    public Queue(int limit = Max) : base(limit) { }
    ~Queue() { }

    /// <inheritdoc />
    [Obsolete("use Push")]
    public async Task<bool> Add(T item, params string[] tags)
    {
        // plain
        var text = $"{{\"n\":{Count}}} // {item}";
        return true;
    }

    void Helper() { }
    public static Queue<T> operator +(Queue<T> a, Queue<T> b) => a;
    public static implicit operator int(Queue<T> q) => q.Count;

    private class Node { internal int Id; }
}

public interface IQueue<T> { void Push(T item); int Size { get; } }
internal enum Level { Low, /* most */ High = 5 }
public record Point(int X, int Y);
public struct Pair { public int A; }
public delegate void Handler(object sender);
